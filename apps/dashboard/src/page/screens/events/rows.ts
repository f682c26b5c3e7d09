/** The rows of the list: what happened to what, and when. The newest comes first. */
import type { EventAnswer } from '@millrace/http'
import type { IconName } from '../../parts/icons.ts'
import { jobLink, queueLink, scheduleLink, workerLink } from '../../router/links.ts'
import { EVENTS_TEXT as text } from './text.ts'

export interface EventRow {
  readonly seq: number
  readonly at: string | undefined
  readonly icon: IconName
  /** The colour, by the state of the job or the severity; none for events that need no look. */
  readonly tone: string | undefined
  readonly type: string
  /** The thing that it happened to, with its address. */
  readonly what: string | undefined
  readonly link: string | undefined
  readonly jobId: string | undefined
  readonly queue: string | undefined
  readonly detail: string | undefined
}

export const KEPT = 500

const JOB_ICONS: Readonly<Record<string, readonly [icon: IconName, tone: string | undefined]>> = {
  enqueued: ['s-waiting', undefined],
  started: ['s-active', 's-active'],
  progress: ['s-active', 's-active'],
  retrying: ['s-retrying', 's-retrying'],
  completed: ['s-completed', 's-completed'],
  failed: ['s-failed', 's-failed'],
  cancelled: ['s-cancelled', undefined],
  snoozed: ['s-scheduled', undefined],
  stalled: ['s-failed', 's-retrying'],
  deleted: ['x', undefined],
}

/** Returns the rows with those of new events before them: at most 500, and none twice. */
export function withEvents(rows: readonly EventRow[], events: readonly EventAnswer[]): readonly EventRow[] {
  const last = rows[0]?.seq ?? -1
  const fresh = events.map(rowOf).filter(({ seq }) => seq > last)
  return [...fresh.slice(-KEPT).reverse(), ...rows].slice(0, KEPT)
}

export function rowOf(event: EventAnswer): EventRow {
  const none = { what: undefined, link: undefined, jobId: undefined, queue: undefined, detail: undefined, tone: undefined }
  if (event.type === 'gap')
    return { ...none, seq: event.resumesAt - 1, at: undefined, icon: 'more', tone: 's-warn', type: text.gap, detail: text.gapMore }
  const { seq, at, type } = event
  if ('run' in event) {
    const [icon, tone] = JOB_ICONS[type] ?? ['jobs', undefined]
    const { jobId, queue, name } = event
    return { seq, at, icon, tone, type, what: name, link: jobLink(jobId), jobId, queue, detail: detailOf(event) }
  }
  if ('worker' in event) {
    const tone = type === 'worker.lost' || type === 'worker.disputed' ? 's-warn' : undefined
    return { ...none, seq, at, icon: 'workers', tone, type, what: event.worker, link: workerLink(event.worker) }
  }
  if ('schedule' in event) {
    const { schedule, jobId, reason } = event
    const tone = type === 'schedule.skipped' ? 's-warn' : undefined
    return { ...none, seq, at, icon: 'schedules', tone, type, what: schedule, link: scheduleLink(schedule), jobId, detail: reason }
  }
  if ('queue' in event) {
    const { queue, name, key } = event
    const detail = name !== undefined ? text.ofName(name) : key !== undefined ? text.ofKey(key) : undefined
    return {
      ...none,
      seq,
      at,
      icon: 'queues',
      tone: type === 'queue.paused' ? 's-warn' : undefined,
      type,
      what: queue,
      link: queueLink(queue),
      detail,
    }
  }
  return { ...none, seq, at, icon: 'pause', tone: 's-warn', type, what: text.all, link: '/queues' }
}

function detailOf({ type, error, progress, attempt }: Extract<EventAnswer, { readonly run: number }>): string | undefined {
  if (type === 'progress' && progress !== undefined) return text.percent(progress)
  const tried = attempt > 1 ? text.attempt(attempt) : undefined
  return [error, tried].filter((part) => part !== undefined).join(' · ') || undefined
}
