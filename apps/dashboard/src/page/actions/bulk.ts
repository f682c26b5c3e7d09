/** Changes many jobs: counts them first, then works through them in slices, so that each answer comes soon and it can be stopped. */
import type { ManyAnswer } from '../api/answers.ts'
import type { Api } from '../api/client.ts'

export interface Bulk {
  readonly word: 'retry' | 'cancel' | 'delete'
  readonly filter: Readonly<Record<string, unknown>>
  /** The jobs in words: "failed jobs of billing / charge with PaymentDeclined". */
  readonly what: string
  /** The time of which it speaks; the moment at which somebody is asked, if it is not set. */
  readonly at?: number
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

const UNFINISHED = ['waiting', 'active', 'scheduled', 'blocked']

/**
 * Returns the bulk for jobs that are as they are at a time. A job that fails again, or comes later, does not match: else a retry would
 * never end.
 */
export function boundedAt(bulk: Bulk, at: number): Bulk {
  const { word, filter } = bulk
  const isUnfinished = word === 'cancel' || UNFINISHED.includes(`${filter['state']}`)
  const bound = isUnfinished ? 'enqueuedBefore' : 'finishedBefore'
  return { ...bulk, at, filter: { ...filter, [bound]: earlier(filter[bound], new Date(at).toISOString()) } }
}

/** Both are times in ISO 8601 of UTC, which sort as they are. */
function earlier(given: unknown, time: string): string {
  return typeof given === 'string' && given < time ? given : time
}

export async function countOf(api: Api, { word, filter }: Bulk): Promise<number> {
  const { matched } = await sendMany(api, word, { filter, limit: COUNTED_MOST, dryRun: true })
  return matched
}

/**
 * Yields how far it is after each slice. Jobs that were left match again in the next slice, which is longer by their number.
 *
 * @param most how many were counted: jobs that wait for another attempt, and fail again, would match for ever
 */
export async function* runBulk(api: Api, { word, filter }: Bulk, most: number, stopped: () => boolean): AsyncGenerator<Progress> {
  let [changed, left, isOver] = [0, 0, false]
  while (!isOver && !stopped()) {
    const limit = SLICE + left
    const slice = await sendMany(api, word, { filter, limit })
    changed += slice.changed
    left = slice.matched - slice.changed
    isOver = slice.matched < limit || changed >= most
    yield { changed, skipped: slice.skipped, isOver }
  }
}

async function sendMany(api: Api, word: Bulk['word'], body: unknown): Promise<ManyAnswer> {
  return (await api.send('POST', `/v1/jobs:${word}`, body)) as ManyAnswer
}
