/** Too much of everything: each is refused with a typed error, or bounded, and what was acknowledged is there. */
import { LIMITS } from '@millrace/core'
import { expectFlat, expectPeak, measured } from './measured.ts'

const MIB = 2 ** 20
const writerHeap = ({ writerHeapMib }: { readonly writerHeapMib: number }) => writerHeapMib
const outside = ({ outsideMib }: { readonly outsideMib: number }) => outsideMib
const heap = ({ heapMib }: { readonly heapMib: number }) => heapMib

/** A heap of young objects swings by 25 MiB between two collections. */
const HEAP_MIB = 40

interface Flood {
  readonly calls: number
  /** Taken while calls still came. */
  readonly inTime: number
  readonly taken: number
  readonly busy: number
  readonly mute: number
  readonly others: readonly string[]
  readonly seconds: number
}

/** A call that is held costs the caller some kilobytes, with its promises; at most so many are held or under way. */
const CALL_KIB = 9
const FLOOD_MIB = (CALL_KIB * (LIMITS.enqueuesHeld + LIMITS.commandsInFlight)) / 1_024
/** Of it, in the heap of one thread. */
const FLOOD_HEAP = 0.75

export const flood = measured<Flood>(
  'flood',
  ({ size }) => [size === 'slice' ? 30_000 : 100_000],
  ({ calls, inTime, taken, busy, mute, others, seconds, memory }, tally, { jobs }) => {
    tally.acknowledged = taken
    tally.lost = taken - jobs.length
    tally.expect(jobs.length === taken, '1, 6', `${taken} were acknowledged, and ${jobs.length} are there`)
    tally.expect(taken + busy === calls, 'one answer each', `${calls} calls, ${taken} taken, ${busy} refused`)
    tally.expect(busy > 0, 'the test', `${calls} calls while ${inTime} were taken are no flood`)
    tally.expect(others.length === 0, 'typed errors', `refused by another error than BusyError: ${others}`)
    tally.expect(mute === 0, 'BusyError', `${mute} refusals do not say when to try again`)
    expectPeak(tally, memory, FLOOD_MIB)
    tally.facts.push(`${Math.round(calls / seconds)} calls and ${Math.round(inTime / seconds)} jobs per second, ${busy} busy`)
  },
  // What is held has to fit; where processors are busy, what is held no more would be collected too late to be told apart from it.
  [`--max-old-space-size=${Math.floor(FLOOD_HEAP * FLOOD_MIB)}`],
)

interface Backlog {
  readonly waiting: number
  readonly active: number
  readonly running: number
}

/** Of a million jobs and of four alike: 130 and 140 MiB at most were measured. */
const BACKLOG_MIB = 200

export const slowConsumer = measured<Backlog>(
  'backlog',
  ({ size }) => [size === 'slice' ? 200_000 : 1_000_000],
  ({ waiting, active, running, memory }, tally, { jobs }) => {
    tally.acknowledged = waiting + active
    tally.lost = waiting + active - jobs.length
    tally.expect(running === 10 && active === 10, 'concurrency', `${running} runs of ${active} active jobs, at a concurrency of 10`)
    // Not the process as a whole: the room of its heaps grows in steps of 25 MiB and more, whatever is in them. And not all else by
    // itself: what the writer's heap gives up stays with the process.
    expectFlat(tally, 'the heap', memory, heap, HEAP_MIB)
    expectFlat(tally, "the writer's heap", memory, writerHeap, HEAP_MIB)
    expectFlat(tally, 'it and all else', memory, (sample) => writerHeap(sample) + outside(sample), 40)
    expectPeak(tally, memory, BACKLOG_MIB)
    tally.facts.push(`${waiting} jobs wait`)
  },
)

interface Huge {
  readonly taken: number
  readonly busy: number
  readonly wrong: number
  readonly runs: number
  readonly totals: { readonly enqueued: number; readonly completed: number }
}

/** What is held and under way is there as text, as messages and on the writer's side, and what has been of it is collected late. */
const COPIES = 8

export const hugePayloads = measured<Huge>(
  'huge',
  ({ size }) => (size === 'slice' ? [400, 1] : [600, 4]),
  ({ taken, busy, wrong, runs, totals, memory }, tally) => {
    tally.acknowledged = taken
    tally.lost = taken - totals.completed
    tally.expect(totals.enqueued === taken && totals.completed === taken, '1, 2', `of ${taken}: ${JSON.stringify(totals)}`)
    tally.expect(runs === taken, '9', `${taken} jobs took ${runs} runs`)
    tally.expect(busy > 0, 'the test', 'the bound of bytes was never met')
    tally.expect(wrong === 0, 'typed errors', `${wrong} calls were refused by another error`)
    expectPeak(tally, memory, (COPIES * (LIMITS.bytesHeld + LIMITS.bytesInFlight)) / MIB)
    tally.facts.push(`${taken} payloads of 1 MiB taken, ${busy} busy`)
  },
)

interface Histories {
  readonly logs: number
  readonly lastLog: string
  readonly logLength: number
  readonly failed: boolean
  readonly attempts: number
  readonly kept: number
  readonly keptRuns: readonly number[]
  readonly messageLength: number
  readonly stackLength: number
  readonly refused: string
}

const LINES = 100_000

export const histories = measured<Histories>(
  'histories',
  ({ size }) => [LINES, size === 'slice' ? 5_000 : 10_000],
  ({ logs, lastLog, logLength, failed, attempts, kept, keptRuns, messageLength, stackLength, refused, memory }, tally) => {
    tally.acknowledged = 3
    tally.expect(logs === LIMITS.logLinesPerRun, '30', `${logs} log lines are kept of one run`)
    tally.expect(lastLog.startsWith(`line ${LINES}`), '30', `the newest line is not kept: ${lastLog}`)
    tally.expect(logLength === LIMITS.logMessageLength, '30', `a log line of ${logLength} is kept`)
    tally.expect(failed && kept === LIMITS.attemptsPerJob, '30', `${kept} failed runs are kept of one job`)
    tally.expect(
      keptRuns[0] === attempts - kept + 1 && keptRuns[1] === attempts,
      '30',
      `of ${attempts} runs those from ${keptRuns} are kept`,
    )
    tally.expect(messageLength === LIMITS.errorMessageLength, '30', `an error's message of ${messageLength} is kept`)
    tally.expect(stackLength === LIMITS.errorStackLength, '30', `an error's stack of ${stackLength} is kept`)
    tally.expect(/OptionRangeError/.test(refused), 'typed errors', `a result of 2 MiB: ${refused}`)
    expectPeak(tally, memory, 150)
    tally.facts.push(`of ${LINES} log lines ${logs} are kept, of ${attempts} failures ${kept}`)
  },
)

interface Endless {
  readonly pulled: number
  readonly committed: number
  readonly enqueued: number
  readonly aheadMost: number
}

/** Of each job its key is kept until the iterable ends: `enqueueMany` answers with all of them. */
const KEY_BYTES = 250
const CHUNK_JOBS = 1_000

export const endlessIterable = measured<Endless>(
  'endless',
  ({ size }) => [size === 'slice' ? 200_000 : 1_000_000],
  ({ pulled, committed, enqueued, aheadMost, memory }, tally, { jobs }) => {
    tally.acknowledged = committed
    tally.lost = committed - jobs.length
    tally.expect(committed === enqueued, 'the last committed index', `${enqueued} are there, and it says ${committed}`)
    tally.expect(pulled - committed <= CHUNK_JOBS, 'chunks', `${pulled} were read, and ${committed} committed`)
    tally.expect(aheadMost <= CHUNK_JOBS, '30', `the iterable was read ${aheadMost} jobs ahead of what was committed`)
    expectFlat(tally, 'the heap', memory, heap, 16 + ((pulled / 2) * KEY_BYTES) / MIB)
    expectFlat(tally, "the writer's heap", memory, writerHeap, HEAP_MIB)
    tally.facts.push(`read ${aheadMost} jobs ahead at most`)
  },
)

/**
 * Of what is told to a listener that does not hear it, no more than this may wait for it: outside of the heaps, which swing by more.
 * Without a bound 400,000 jobs add 100 and more.
 */
const UNHEARD_MIB = 70
const JOBS_TOLD = { slice: 400_000, long: 1_000_000 } as const

function audience(how: 'slow' | 'never') {
  return measured<{ readonly ended: number }>(
    'audience',
    ({ size }) => [JOBS_TOLD[size], how],
    ({ ended, memory }, tally) => {
      tally.acknowledged = ended
      expectFlat(tally, 'what waits to be heard', memory, outside, UNHEARD_MIB)
    },
  )
}

export const slowListener = audience('slow')
export const unreadPort = audience('never')
