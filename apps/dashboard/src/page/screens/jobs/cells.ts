/** The cells of a row, by the tab that it is in. */
import type { JobAnswer } from '../../api/answers.ts'
import { escaped } from '../../format/escaped.ts'
import { type Pair, pairsOf } from '../../parts/json/lines.ts'
import { parseJson } from '../../parts/json/parse.ts'
import type { Tab } from './tabs.ts'

export const COLUMNS = ['queue', 'error', 'worker', 'progress', 'data', 'runs', 'took', 'time'] as const
export type Column = (typeof COLUMNS)[number]

const COLUMNS_OF: Readonly<Record<Tab, readonly Column[]>> = {
  all: ['queue', 'error', 'data', 'runs', 'time'],
  waiting: ['queue', 'data', 'runs', 'time'],
  active: ['worker', 'progress', 'data', 'runs', 'took'],
  retrying: ['error', 'data', 'runs', 'time'],
  scheduled: ['queue', 'data', 'runs', 'time'],
  blocked: ['queue', 'data', 'time'],
  failed: ['error', 'data', 'runs', 'took', 'time'],
  completed: ['queue', 'data', 'runs', 'took', 'time'],
  cancelled: ['queue', 'data', 'runs', 'time'],
}

/** A column that would say the same in each row is left out. */
export function columnsOf(tab: Tab, hasQueue: boolean): readonly Column[] {
  return COLUMNS_OF[tab].filter((column) => column !== 'queue' || !hasQueue)
}

/** The time that matters in a state, and what it is. */
export function timeOf(job: JobAnswer): { readonly at: string; readonly kind: 'due' | 'started' | 'ended' | 'enqueued' } {
  if (job.state === 'scheduled') return { at: job.runAt, kind: 'due' }
  if (job.state === 'active') return { at: job.startedAt ?? job.enqueuedAt, kind: 'started' }
  if (job.finishedAt !== undefined) return { at: job.finishedAt, kind: 'ended' }
  return { at: job.state === 'waiting' ? job.runAt : job.enqueuedAt, kind: 'enqueued' }
}

/** How long the last run took; of a run that goes on, until now. Undefined without a run. */
export function tookMs({ lastRun, state }: JobAnswer, now: number): number | undefined {
  if (lastRun?.startedAt === undefined) return undefined
  if (lastRun.endedAt === undefined && state !== 'active') return undefined
  const end = lastRun.endedAt === undefined ? now : Date.parse(lastRun.endedAt)
  return Math.max(0, end - Date.parse(lastRun.startedAt))
}

const PAIRS = 4
const RAW_LENGTH = 160

export interface DataCell {
  readonly pairs: readonly Pair[]
  /** The text as it is stored, if it is no JSON. */
  readonly raw: string | undefined
}

/** The beginning of the data in one line; undefined if there is none. */
export function dataOf({ preview, redacted }: JobAnswer): DataCell | undefined {
  const { text, binary } = preview?.data ?? {}
  if (text === undefined) return undefined
  const node = binary === undefined ? parseJson(text) : undefined
  if (node === undefined) return { pairs: [], raw: escaped(text.slice(0, RAW_LENGTH)) }
  const isRedacted = redacted?.includes('data') === true
  return { pairs: pairsOf(node, PAIRS).map((pair) => ({ ...pair, isRedacted: pair.isRedacted && isRedacted })), raw: undefined }
}
