/** The promises of every Port in one suite, a file for each area: each Port's own test runs it, whatever is behind the Port. */
import type { Port } from '@millrace/core'
import { afterEach, beforeEach, describe } from 'vitest'
import { PORT_AREAS, type PortArea } from './conformance/areas.ts'
import type { Behind } from './conformance/behind.ts'
import { flowsConformance } from './conformance/flows.ts'
import { jobsConformance } from './conformance/jobs.ts'
import { queuesConformance } from './conformance/queues.ts'
import { readingConformance } from './conformance/reading.ts'
import { runsConformance } from './conformance/runs.ts'
import { scheduleConformance } from './conformance/schedules.ts'
import { sessionsConformance } from './conformance/sessions.ts'
import { stepsConformance } from './conformance/steps.ts'
import { upkeepConformance } from './conformance/upkeep.ts'
import { Probe } from './probe.ts'

export type { PortArea } from './conformance/areas.ts'
export type { StoreUnderTest } from './storeConformance/underTest.ts'
export { storeConformance } from './storeConformance.ts'

export interface PortUnderTest {
  readonly port: Port
  close(): Promise<void>
}

const AREAS: Readonly<Record<PortArea, (under: () => Probe, behind: Behind) => void>> = {
  jobs: jobsConformance,
  runs: runsConformance,
  steps: stepsConformance,
  sessions: sessionsConformance,
  queues: queuesConformance,
  flows: flowsConformance,
  schedules: scheduleConformance,
  reading: readingConformance,
  upkeep: upkeepConformance,
}

/** @param areas the parts of the contract to test; default all of them */
export function portConformance(
  name: string,
  open: () => Promise<PortUnderTest>,
  behind: Behind = { inFile: true },
  areas: readonly PortArea[] = PORT_AREAS,
): void {
  describe(`Port conformance: ${name}`, () => {
    let under: PortUnderTest
    let probe: Probe

    beforeEach(async () => {
      under = await open()
      probe = new Probe(under.port)
    })

    afterEach(() => under.close())

    for (const area of areas) describe(area, () => AREAS[area](() => probe, behind))
  })
}
