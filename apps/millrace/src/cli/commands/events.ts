/** `millrace events`: prints past and new events of jobs, queues, schedules and workers. */
import { integerOption } from '@millrace/core'
import type { EngineEvent, EventStreamItem, EventsFilter, EventsOptions, QueueEvent, ScheduleEvent } from '@millrace/engine'
import type { Command } from 'commander'
import { defined } from '../../defined.ts'
import type { Context } from '../context.ts'
import { cursorOf, lastEvent } from '../journal.ts'
import { type Line, line } from '../output/line.ts'
import type { Paint, Style } from '../output/style.ts'
import { names, number } from '../values.ts'

interface Flags {
  readonly follow?: boolean
  readonly after?: number
  readonly limit?: number
  readonly type?: readonly string[]
  readonly queue?: string
  readonly name?: string
  readonly jobId?: string
}

export function addEvents(program: Command, context: Context): void {
  program
    .command('events')
    .description('Print the events of jobs, queues, schedules and workers')
    .option('-f, --follow', 'print new events as they happen')
    .option('--after <seq>', 'events after this one; 0 for all that are kept', number)
    .option('--limit <number>', 'stop after this many', number)
    .option('--type <types>', 'only these types: enqueued,completed,failed,queue.paused', names)
    .option('--queue <name>', 'only this queue and its jobs')
    .option('--name <name>', 'only jobs with this name')
    .option('--job-id <id>', 'only this job')
    .action((flags: Flags) => show(context, flags))
}

async function show({ connect, out, signal }: Context, flags: Flags): Promise<void> {
  const { follow = false, after, type, queue, name, jobId } = flags
  const limit = flags.limit === undefined ? Number.POSITIVE_INFINITY : integerOption('limit', flags.limit, 1, Number.MAX_SAFE_INTEGER)
  const engine = await connect()
  const filter = defined<EventsFilter>({ types: type, queue, name, jobId })
  // Rejects invalid flags before the first request.
  await engine.events(defined<EventsOptions>({ after, filter })).return()
  const from = after ?? (follow ? 'now' : 0)
  const last = follow ? Number.POSITIVE_INFINITY : await lastEvent(engine)
  if (from !== 'now' && from >= last) return
  // To end with the last event, the stream must deliver that one even if it does not fit the filter.
  const events = engine.events(defined<EventsOptions>({ after: from, signal, filter: follow ? filter : undefined }))
  let shown = 0
  for await (const event of events) {
    if (follow || fits(event, flags)) {
      await out.item(shapeOf(event), () => eventText(event, out.paint))
      if (++shown >= limit) return
    }
    if (cursorOf(event) >= last) return
  }
}

/** Returns the event with the fields that only some types have, so that all have them. */
function shapeOf(event: EventStreamItem): object {
  if (event.type === 'gap' || 'session' in event) return event
  if ('run' in event) return { ...event, error: event.error, progress: event.progress, runAt: event.runAt }
  if ('queue' in event) return { ...event, name: event.name, key: event.key }
  return 'schedule' in event ? { ...event, tick: event.tick, jobId: event.jobId, reason: event.reason } : event
}

function fits(event: EventStreamItem, { type, queue, name, jobId }: Flags): boolean {
  if (event.type === 'gap') return true
  if (type !== undefined && !type.includes(event.type)) return false
  if (queue !== undefined && !('queue' in event && event.queue === queue)) return false
  if (name !== undefined && !('run' in event && event.name === name)) return false
  return jobId === undefined || ('run' in event && event.jobId === jobId.toLowerCase())
}

function eventText(event: EventStreamItem, paint: Paint): Line {
  if (event.type === 'gap') return paint('yellow', `gap: events before ${event.resumesAt} are no longer kept`)
  const { seq, type, at } = event
  const head = (style: Style) => line`${at.toISOString()} ${String(seq).padStart(8)} ${paint(style, type.padEnd(9))}`
  if ('session' in event) return line`${head(type === 'worker.lost' ? 'red' : 'cyan')} ${event.worker}`
  if ('schedule' in event) return line`${head(type === 'schedule.skipped' ? 'yellow' : 'cyan')} ${event.schedule}${ofSchedule(event)}`
  if (!('queue' in event)) return head('cyan')
  if (!('run' in event)) return line`${head('cyan')} ${event.queue}${ofQueue(event)}`
  const { jobId, queue, name } = event
  const style = type === 'failed' ? 'red' : type === 'retrying' || type === 'stalled' ? 'yellow' : type === 'completed' ? 'green' : 'cyan'
  return line`${head(style)} ${jobId} ${queue}/${name}${moreOf(event)}`
}

function ofQueue({ name, key }: QueueEvent): string {
  return inBrackets([name && `jobs named ${name}`, key && `key ${key}`])
}

function ofSchedule({ tick, jobId, reason }: ScheduleEvent): string {
  return inBrackets([tick && `tick of ${tick.toISOString()}`, jobId, reason])
}

function moreOf({ attempt, error, progress, runAt }: EngineEvent): string {
  return inBrackets([
    attempt > 1 ? `attempt ${attempt}` : undefined,
    error,
    progress === undefined ? undefined : `${Math.round(progress * 100)} %`,
    runAt && `at ${runAt.toISOString()}`,
  ])
}

function inBrackets(facts: readonly (string | undefined)[]): string {
  const known = facts.filter((fact) => fact !== undefined)
  return known.length === 0 ? '' : ` (${known.join(', ')})`
}
