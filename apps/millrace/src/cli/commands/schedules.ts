/** `millrace schedules`: shows and changes schedules of recurring jobs. */
import { retryLost } from '@millrace/client'
import {
  integerOption,
  LIMITS,
  nameOption,
  newJobFrom,
  SCHEDULE_OPTIONS,
  ScheduleNotFoundError,
  type ScheduleRow,
  scheduleIdOption,
  validateScheduleOptions,
  withoutPresets,
} from '@millrace/core'
import type { Schedule, ScheduleChanges, ScheduledJob, ScheduleListOptions, ScheduleOptions, TriggerOptions } from '@millrace/engine'
import type { Command } from 'commander'
import { defined } from '../../defined.ts'
import { now } from '../clock.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { defaultCommand } from '../groups.ts'
import { addRunFlags, type RunFlags, runOptionsOf } from '../jobFlags.ts'
import { awayText, countText, durationText, timeText } from '../output/amounts.ts'
import type { Line, Text } from '../output/line.ts'
import { plain } from '../output/plain.ts'
import type { Paint } from '../output/style.ts'
import { dataOf, json, number, orNone, removing } from '../values.ts'
import { fieldLines } from '../view/job.ts'
import { flagOf, writtenOf } from '../written.ts'

type TimeFlags = { readonly [Name in keyof ScheduleOptions]?: unknown }

interface SetFlags extends RunFlags, TimeFlags {
  readonly binary?: boolean
}

interface UpdateFlags extends TimeFlags {
  readonly job?: string
  readonly data?: string
  readonly binary?: boolean
}

interface ListFlags {
  readonly prefix?: string
  readonly queue?: string
  readonly name?: string
  readonly after?: string
  readonly limit?: number
}

const BINARY = 'the data is bytes: base64, or @file of any bytes'

/** A schedule is paused and resumed by commands of their own. */
const { runImmediately: _once, paused: _paused, ...CHANGEABLE } = SCHEDULE_OPTIONS

/** The default number of times that `next` shows. */
const TIMES = 5

export function addSchedules(program: Command, context: Context): void {
  const { connect, out } = context
  const schedules = program.command('schedules').description('Inspect and change schedules of recurring jobs')
  defaultCommand(schedules, 'list')
    .description('List schedules by id')
    .option('--prefix <text>', 'only schedules whose id begins with this')
    .option('--queue <name>', 'only schedules whose jobs go to this queue')
    .option('--name <name>', 'only schedules whose jobs have this name')
    .option('--limit <number>', 'at most this many: 1 to 200; default 50', number)
    .option('--after <id>', '"next" of the previous page')
    .action(async ({ prefix, queue, name, after, limit }: ListFlags) => {
      const engine = await connect()
      const page = await retryLost(() => engine.schedules.list(defined<ScheduleListOptions>({ prefix, queue, name, after, limit })))
      await out.answer(page, () =>
        out.list(
          'no schedules',
          [
            { title: 'ID', text: ({ id }) => id },
            { title: 'WHEN', text: whenOf },
            { title: 'JOB', text: ({ job }) => job },
            { title: 'NEXT', text: ({ paused, nextRunAt }) => (paused ? out.paint('yellow', 'paused') : awayText(nextRunAt, now())) },
            { title: 'RUNS', text: ({ runs }) => countText(runs), right: true },
            { title: 'SKIPPED', text: ({ skipped }) => countText(skipped), right: true },
          ],
          page.schedules,
        ),
      )
      out.more(page.next)
    })
  schedules
    .command('show')
    .description('Show a schedule and the result of its last job')
    .argument('<id>')
    .action(async (id: string) => {
      const schedule = await scheduleOf(context, id, 1)
      await out.answer(schedule, () => scheduleLines(schedule, out.paint))
    })
  for (const [verb, description] of [
    ['set', 'Create or replace a schedule; with the same times it keeps its next run'],
    ['add', 'Create a schedule; an existing one is refused and stays as it is'],
  ] as const)
    addRunFlags(
      addOptions(schedules.command(verb).description(description).argument('<id>'), SCHEDULE_OPTIONS)
        .argument('<job>', 'name of the job to create')
        .argument('[data]', 'JSON, or @file')
        .option('--binary', BINARY),
    ).action(async (id: string, job: string, data: string | undefined, flags: SetFlags) => {
      const value = await dataOf(data, flags.binary)
      const options = defined<ScheduleOptions>(timesOf(flags))
      const wanted = defined<ScheduledJob>({ job, data: value, options: runOptionsOf(flags) })
      const { systemCalendar } = await import('@millrace/client/calendar')
      // A wrong call creates no file.
      scheduleIdOption(id)
      validateScheduleOptions(options, systemCalendar)
      newJobFrom(nameOption('name', job), null, wanted.options, undefined)
      const engine = await connect({ create: true })
      // A repeated `add` would be rejected because of its own first call.
      const set = await (verb === 'add'
        ? engine.schedules.add(id, options, wanted)
        : retryLost(() => engine.schedules.upsert(id, options, wanted)))
      await out.answer(set, () => `${id} ${set.created ? 'created' : 'changed'}; next ${timeText(set.nextRunAt)}`)
    })
  addOptions(
    schedules
      .command('update')
      .description('Change single fields of a schedule and keep the others; "none" removes a bound')
      .argument('<id>'),
    withoutPresets<ScheduleRow>(CHANGEABLE),
    orNone,
  )
    .option('--job <name>', 'name of the job to create')
    .option('--data <json>', 'JSON, or @file')
    .option('--binary', BINARY)
    .action(async (id: string, flags: UpdateFlags) => {
      if (Object.keys(flags).length === 0)
        throw new UsageError('nothing to change: give at least one of the flags of millrace schedules update --help')
      const value = await dataOf(flags.data, flags.binary)
      const engine = await connect()
      const changes = defined<ScheduleChanges>({ ...removing(timesOf(flags)), job: flags.job, data: value })
      const set = await engine.schedules.update(id, changes)
      await out.answer(set, () => `${id} changed; next ${timeText(set.nextRunAt)}`)
    })
  for (const [verb, description, done] of [
    ['delete', 'Delete a schedule, and its job if the job has not started', 'deleted'],
    ['pause', 'Pause a schedule', 'paused'],
    ['resume', 'Resume a schedule from its next time on', 'resumed'],
  ] as const)
    schedules
      .command(verb)
      .description(description)
      .argument('<id>')
      .action(async (id: string) => {
        const engine = await connect()
        await engine.schedules[verb](id)
        await out.answer({ id, result: done }, () => `${id} ${done}`)
      })
  schedules
    .command('trigger')
    .description('Create a job of a schedule now, in addition to its times')
    .argument('<id>')
    .option('--meta <json>', "fields to add to the schedule's meta, for this job only", json)
    .action(async (id: string, { meta }: { readonly meta?: unknown }) => {
      const engine = await connect()
      const job = await engine.schedules.trigger(id, defined<TriggerOptions>({ meta }))
      if (!job.created && !out.json) out.note(`no job was created: the last job of ${id} has not ended, and this is its id`)
      await out.answer({ id, jobId: job.id, created: job.created }, () => job.id)
    })
  schedules
    .command('next')
    .description('Show the next times of a schedule')
    .argument('<id>')
    .option('-n, --times <number>', `how many: 1 to 1,000; default ${TIMES}`, number, TIMES)
    .action(async (id: string, { times }: { readonly times: number }) => {
      // The engine accepts 0, which shows none.
      const { nextRuns } = await scheduleOf(context, id, integerOption('times', times, 1, LIMITS.timesPerSchedule))
      await out.answer({ id, nextRuns }, () => nextRuns.map((at) => `${timeText(at)}  ${awayText(at, now())}`))
    })
}

/** Adds the flags of a schedule's options. `bound` parses the flags of bounds, which an update can remove. */
function addOptions(command: Command, rows: Readonly<Record<string, ScheduleRow>>, bound: typeof orNone = (parse) => parse): Command {
  for (const [name, { kind, removable }] of Object.entries(rows)) {
    const { flag, help } = flagOf(rows, name)
    const { value, parse = String } = writtenOf(kind)
    if (value === undefined) command.option(flag, help)
    else command.option(flag, help, removable ? bound(parse) : parse)
  }
  return command
}

const timesOf = (flags: TimeFlags): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.keys(SCHEDULE_OPTIONS).map((name) => [name, flags[name as keyof ScheduleOptions]]))

/** @throws ScheduleNotFoundError */
export async function scheduleOf({ connect }: Context, id: string, times = 1): Promise<Schedule> {
  const engine = await connect()
  const schedule = await retryLost(() => engine.schedules.get(id, { times }))
  if (schedule === undefined) throw new ScheduleNotFoundError(`there is no schedule ${id}: see millrace schedules list`, { scheduleId: id })
  return schedule
}

function whenOf({ cron, timezone, every }: Schedule): string {
  if (cron === undefined) return `every ${durationText(every ?? 0)}`
  return timezone === undefined || timezone === 'UTC' ? cron : `${cron} ${timezone}`
}

function scheduleLines(schedule: Schedule, paint: Paint): Line[] {
  const { id, job, data, options, overlap, catchUp, catchUpWithin, jitter, paused, nextRunAt, lastRunAt, lastJobId, lastResult } = schedule
  const { runs, maxRuns, skipped } = schedule
  const fields: readonly (readonly [string, Text | undefined])[] = [
    ['id', id],
    ['when', whenOf(schedule)],
    ['from', schedule.startAt && timeText(schedule.startAt)],
    ['until', schedule.endAt && timeText(schedule.endAt)],
    ['jitter', jitter === 0 ? undefined : durationText(jitter)],
    ['overlap', overlap],
    ['catch up', catchUpWithin === undefined ? catchUp : `${catchUp}, within ${durationText(catchUpWithin)}`],
    ['job', job],
    ['data', data === undefined ? undefined : JSON.stringify(plain(data))],
    ['options', JSON.stringify(plain(options))],
    ['next', paused ? paint('yellow', 'paused') : timeText(nextRunAt)],
    ['last', timeText(lastRunAt)],
    ['last job', lastJobId && `${lastJobId}${lastResult === undefined ? '' : `, ${lastResult.state}`}`],
    ['runs', maxRuns === undefined ? countText(runs) : `${countText(runs)} of ${countText(maxRuns)}`],
    ['skipped', countText(skipped)],
  ]
  return fieldLines(
    fields.filter((field): field is readonly [string, Text] => field[1] !== undefined),
    paint,
  )
}
