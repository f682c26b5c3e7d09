/** Changes many jobs: counts them first, then works through them in slices, so that each answer comes soon and it can be stopped. */
import type { ManyAnswer } from '../api/answers.ts'
import type { Api } from '../api/client.ts'

export interface Bulk {
  readonly word: 'retry' | 'cancel' | 'delete'
  readonly filter: Readonly<Record<string, unknown>>
  /** The jobs in words: "failed jobs of billing / charge with PaymentDeclined". */
  readonly what: string
}

export interface Progress {
  readonly changed: number
  /** Jobs that match and were left, by the reason. */
  readonly skipped: ManyAnswer['skipped']
  readonly isOver: boolean
}

/** Counting costs little, but not nothing: more than this is "100,000 or more". */
export const COUNTED_MOST = 100_000
const SLICE = 5_000

/**
 * Returns the bulk for jobs that are as they are at a time. A job that fails again, or comes later, does not match: else a retry would
 * never end.
 */
export function boundedAt({ word, filter, what }: Bulk, at: number): Bulk {
  const time = new Date(at).toISOString()
  return { word, what, filter: { ...filter, ...(word === 'cancel' ? { enqueuedBefore: time } : { finishedBefore: time }) } }
}

export async function countOf(api: Api, { word, filter }: Bulk): Promise<number> {
  const { matched } = await sendMany(api, word, { filter, limit: COUNTED_MOST, dryRun: true })
  return matched
}

/** Yields how far it is after each slice. Jobs that were left match again in the next slice, which is longer by their number. */
export async function* runBulk(api: Api, { word, filter }: Bulk, stopped: () => boolean): AsyncGenerator<Progress> {
  let [changed, left, isOver] = [0, 0, false]
  while (!isOver && !stopped()) {
    const limit = SLICE + left
    const slice = await sendMany(api, word, { filter, limit })
    changed += slice.changed
    left = slice.matched - slice.changed
    isOver = slice.matched < limit
    yield { changed, skipped: slice.skipped, isOver }
  }
}

async function sendMany(api: Api, word: Bulk['word'], body: unknown): Promise<ManyAnswer> {
  return (await api.send('POST', `/v1/jobs:${word}`, body)) as ManyAnswer
}
