/** The life of a job as a line: what it waited for, when it ran, and the pauses between its attempts. */
import type { JobAnswer } from '../../api/answers.ts'
import { duration, ON_MESSAGE } from '../../format/durations.ts'
import { JOB_PAGE_TEXT as text } from './text.ts'

export type SegmentKind = 'scheduled' | 'waited' | 'backoff' | 'ok' | 'bad' | 'running'

export interface Segment {
  readonly kind: SegmentKind
  readonly from: number
  readonly to: number
  readonly label: string
}

export interface Timeline {
  readonly from: number
  readonly to: number
  readonly ranMs: number
  /** The time that has passed: a job that is due later has yet to wait. */
  readonly passedMs: number
  readonly segments: readonly Segment[]
}

/** Each attempt, and what comes before it. Attempts that are not kept any more leave a gap that counts as waiting. */
export function timelineOf(job: JobAnswer, now: number): Timeline {
  const from = Date.parse(job.enqueuedAt)
  const due = Date.parse(job.runAt)
  const segments: Segment[] = []
  let [at, hasFailed] = [from, false]
  const add = (kind: SegmentKind, to: number, label: (time: string) => string) => {
    if (to > at) segments.push({ kind, from: at, to, label: label(duration(to - at)) })
    at = Math.max(at, to)
  }
  for (const { startedAt, endedAt, error } of job.attempts) {
    if (startedAt === undefined) continue
    const start = Date.parse(startedAt)
    if (hasFailed) add('backoff', start, text.timeline.backoff)
    else add('waited', start, text.timeline.waited)
    const end = endedAt === undefined ? now : Date.parse(endedAt)
    const kind = endedAt === undefined ? 'running' : error === undefined ? 'ok' : 'bad'
    segments.push({ kind, from: start, to: Math.max(start, end), label: duration(Math.max(0, end - start)) })
    at = Math.max(at, end)
    hasFailed = true
  }
  if (due === ON_MESSAGE) add('waited', now, text.timeline.waits)
  else if (job.state === 'scheduled')
    add(hasFailed ? 'backoff' : 'scheduled', Math.max(due, now), hasFailed ? text.timeline.backoff : text.timeline.due)
  if (job.finishedAt !== undefined && !hasFailed) add('waited', Date.parse(job.finishedAt), text.timeline.waited)
  if (job.state === 'waiting' || job.state === 'blocked') add('waited', now, text.timeline.waits)
  const to = Math.max(at, from + 1)
  const ran = segments.filter(({ kind }) => kind === 'ok' || kind === 'bad' || kind === 'running')
  const passedMs = (job.finishedAt === undefined ? Math.min(to, Math.max(from, now)) : to) - from
  return { from, to, passedMs, ranMs: ran.reduce((total, segment) => total + segment.to - segment.from, 0), segments }
}

const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3]
const HOUR_MS = 3_600_000

/** Returns round times behind the beginning, at most `most`. */
export function offsetsOf(totalMs: number, most: number): readonly number[] {
  const step = STEPS_MS.find((ms) => totalMs / ms <= most) ?? Math.ceil(totalMs / most / HOUR_MS) * HOUR_MS
  return Array.from({ length: Math.floor(totalMs / step) }, (_, place) => (place + 1) * step)
}
