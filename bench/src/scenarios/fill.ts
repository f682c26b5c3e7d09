/** Fills a file with a backlog; the file stays where `file` says. */
import { setTimeout } from 'node:timers/promises'
import { type Context, openEngine } from '@millrace/engine'
import { keepInFlight } from '../inFlight.ts'
import { noop, other } from '../jobs.ts'
import type { BacklogShape, Scenario } from '../measurement.ts'
import { startMeter } from '../meter.ts'
import { BACKLOG_TAG, payloadOf, STEP_RESULT } from '../payload.ts'

const LOT = 1_000
const LOTS_IN_FLIGHT = 4
/** How many names the shape `names` spreads its jobs over. */
const NAMES = 50_000
/** Of the jobs that stand behind the measured ones in their lane. */
const BEHIND = -10
/** Nothing becomes due while it is measured. */
const LATER = '365d'

const LOOK_MS = 50

export const fill: Scenario = async ({ file, durability, backlog, backlogJobs }) => {
  const engine = await openEngine({ file, durability })
  const stop = startMeter()
  // They fall asleep as they come.
  const worker = backlog === 'asleep' ? engine.work(other.handler(fallAsleep)) : undefined
  await keepInFlight(LOTS_IN_FLIGHT, Math.ceil(backlogJobs / LOT), (lot) => {
    const first = lot * LOT
    const size = Math.min(LOT, backlogJobs - first)
    return engine.enqueueMany(Array.from({ length: size }, (_, place) => requestOf(backlog, first + place)))
  })
  while (backlog === 'asleep' && (await engine.stats()).states.scheduled < backlogJobs) await setTimeout(LOOK_MS)
  await worker?.stop()
  const figures = stop(backlogJobs)
  const { states } = await engine.stats()
  await engine.stop()
  const filled = states.waiting + states.scheduled
  if (filled !== backlogJobs) throw new Error(`${filled} of ${backlogJobs} jobs are in the backlog`)
  return figures
}

async function fallAsleep({ step, sleep }: Context): Promise<void> {
  await step('before', () => STEP_RESULT)
  await sleep('long', LATER)
}

function requestOf(shape: BacklogShape, index: number) {
  const data = payloadOf(index, shape === 'own' ? undefined : BACKLOG_TAG)
  if (shape === 'own') return { job: noop, data }
  if (shape === 'behind') return { job: noop, data, options: { priority: BEHIND } }
  if (shape === 'scheduled') return { job: other, data, options: { delay: LATER } as const }
  if (shape === 'names') return { job: `other-${index % NAMES}`, data }
  return { job: other, data }
}
