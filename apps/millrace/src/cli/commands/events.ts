/** `millrace events`: what happened to jobs, and what happens. */
import { integerOption } from '@millrace/core'
import type { EngineEvent, EventStreamItem, EventsFilter, EventsOptions } from '@millrace/engine'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { said } from '../jobFlags.ts'
import { cursorOf, lastEvent } from '../journal.ts'
import type { Paint } from '../output/style.ts'
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
    .description('what happened to jobs: all that is kept, or with -f what happens from now on')
    .option('-f, --follow', 'go on with what happens')
    .option('--after <seq>', 'behind this event; 0 for all that are kept', number)
    .option('--limit <number>', 'end after so many', number)
    .option('--type <types>', 'enqueued, started, completed, failed, ...; a,b for more', names)
    .option('--queue <name>', 'of this queue')
    .option('--name <name>', 'of jobs of this name')
    .option('--job-id <id>', 'of this job')
    .action((flags: Flags) => show(context, flags))
}

async function show({ connect, out, signal }: Context, flags: Flags): Promise<void> {
  const { follow = false, after, type, queue, name, jobId } = flags
  const limit = flags.limit === undefined ? Number.POSITIVE_INFINITY : integerOption('limit', flags.limit, 1, Number.MAX_SAFE_INTEGER)
  const engine = await connect()
  const filter = said<EventsFilter>({ types: type, queue, name, jobId })
  // Says what is wrong about the flags, before anything is asked.
  await engine.events(said<EventsOptions>({ after, filter })).return()
  const last = await lastEvent(engine)
  const from = after ?? (follow ? last : 0)
  if (!follow && from >= last) return
  // Where it is to end with the last event, that one has to be told, whether or not it fits.
  const events = engine.events(said<EventsOptions>({ after: from, signal, filter: follow ? filter : undefined }))
  let shown = 0
  for await (const event of events) {
    if (follow || fits(event, flags)) {
      await out.item(shapeOf(event), () => eventText(event, out.paint))
      if (++shown >= limit) return
    }
    if (!follow && cursorOf(event) >= last) return
  }
}

/** What only some types have is there in all. */
function shapeOf(event: EventStreamItem): object {
  return event.type === 'gap' ? event : { ...event, error: event.error, progress: event.progress, runAt: event.runAt }
}

function fits(event: EventStreamItem, { type, queue, name, jobId }: Flags): boolean {
  if (event.type === 'gap') return true
  if (type !== undefined && !type.includes(event.type)) return false
  if (queue !== undefined && event.queue !== queue) return false
  if (name !== undefined && event.name !== name) return false
  return jobId === undefined || event.jobId === jobId.toLowerCase()
}

function eventText(event: EventStreamItem, paint: Paint): string {
  if (event.type === 'gap') return paint('yellow', `gap: what happened before event ${event.resumesAt} is not kept any more`)
  const { seq, type, jobId, queue, name, at } = event
  const style = type === 'failed' ? 'red' : type === 'retrying' || type === 'stalled' ? 'yellow' : type === 'completed' ? 'green' : 'cyan'
  return `${at.toISOString()} ${String(seq).padStart(8)} ${paint(style, type.padEnd(9))} ${jobId} ${queue}/${name}${moreOf(event)}`
}

function moreOf({ attempt, error, progress, runAt }: EngineEvent): string {
  const facts = [
    attempt > 1 ? `attempt ${attempt}` : undefined,
    error,
    progress === undefined ? undefined : `${Math.round(progress * 100)} %`,
    runAt && `at ${runAt.toISOString()}`,
  ].filter((fact) => fact !== undefined)
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`
}
