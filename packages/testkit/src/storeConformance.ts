/**
 * The promises of every store in one suite, a file for each area: each store's own test runs it. Turns are real ones, taken by the kernel;
 * after each, the tables are compared with those that the store would load.
 */
import { afterEach, beforeEach, describe } from 'vitest'
import { faultsConformance } from './storeConformance/faults.ts'
import { flowsConformance } from './storeConformance/flows.ts'
import { jobsConformance } from './storeConformance/jobs.ts'
import { journalConformance } from './storeConformance/journal.ts'
import { keysConformance } from './storeConformance/keys.ts'
import { listsConformance } from './storeConformance/lists.ts'
import { loadConformance } from './storeConformance/load.ts'
import { retentionConformance } from './storeConformance/retention.ts'
import { runsConformance } from './storeConformance/runs.ts'
import { schedulesConformance } from './storeConformance/schedules.ts'
import { stepsConformance } from './storeConformance/steps.ts'
import { StoreTurns } from './storeConformance/storeTurns.ts'
import type { StoreUnderTest } from './storeConformance/underTest.ts'
import { windowsConformance } from './storeConformance/windows.ts'

const AREAS = {
  jobs: jobsConformance,
  runs: runsConformance,
  steps: stepsConformance,
  keys: keysConformance,
  windows: windowsConformance,
  flows: flowsConformance,
  schedules: schedulesConformance,
  journal: journalConformance,
  retention: retentionConformance,
  lists: listsConformance,
  load: loadConformance,
  faults: faultsConformance,
}

export function storeConformance(name: string, open: () => StoreUnderTest | Promise<StoreUnderTest>): void {
  describe(`Store conformance: ${name}`, () => {
    let under: StoreUnderTest
    let turns: StoreTurns

    beforeEach(async () => {
      under = await open()
      turns = new StoreTurns(under.store)
    })

    afterEach(() => turns.store.close())

    for (const [area, conformance] of Object.entries(AREAS))
      describe(area, () =>
        conformance(
          () => turns,
          () => under,
        ),
      )
  })
}
