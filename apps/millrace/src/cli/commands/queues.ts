/** `millrace queues`: inspects and configures queues. */
import { retryLost } from '@millrace/client'
import { LIMITS, nameOption, QUEUE_OPTIONS, type Row, validateQueueOptions } from '@millrace/core'
import type {
  DrainOptions,
  Engine,
  PauseOptions,
  PurgeOptions,
  QueueKey,
  QueueKeysOptions,
  QueueOptions,
  QueueRate,
  QueueView,
  ResumeOptions,
} from '@millrace/engine'
import type { Command } from 'commander'
import { defined } from '../../defined.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { NotFoundError, UsageError } from '../errors.ts'
import { defaultCommand } from '../groups.ts'
import { countText, durationText, many, timeText } from '../output/amounts.ts'
import { type Line, line, type Text } from '../output/line.ts'
import type { Paint } from '../output/style.ts'
import { duration, names, number, orNone, removing } from '../values.ts'
import { fieldLines } from '../view/job.ts'
import { settingText } from '../view/setting.ts'
import { stateColumns, statesText } from '../view/states.ts'
import { flagOf, writtenOf } from '../written.ts'

interface PauseFlags extends ResumeOptions {
  /** As it was written: `10m`. */
  readonly for?: number
}

interface PurgeFlags {
  readonly state?: readonly string[]
  readonly dryRun?: boolean
  readonly yes?: boolean
}

const SETTINGS: Readonly<Record<string, Row>> = QUEUE_OPTIONS

export function addQueues(program: Command, context: Context): void {
  const { connect, out } = context
  const queues = program.command('queues').description('Inspect and configure queues')
  defaultCommand(queues, 'list')
    .description('List queues with their jobs by state')
    .action(async () => {
      const engine = await connect()
      const found = await retryLost(() => engine.queues.list())
      await out.answer({ queues: found }, () =>
        out.list(
          'no queues',
          [
            { title: 'QUEUE', elastic: true, text: ({ name }) => name },
            ...stateColumns<QueueView>(({ states }) => states),
            { title: 'OLDEST', text: ({ oldestWaitingMs: ms }) => (ms === 0 ? '-' : durationText(ms)), right: true },
            { title: '', text: (queue) => stateText(queue, out.paint) },
          ],
          found,
        ),
      )
    })
  queues
    .command('show')
    .description('Show a queue and its settings')
    .argument('<name>')
    .action(async (name: string) => {
      const queue = await queueOf(context, name)
      await out.answer(queue, () => queueLines(queue, out.paint))
    })
  queues
    .command('keys')
    .description('List the concurrency keys of a queue with the most waiting jobs')
    .argument('<name>')
    .option('--limit <number>', 'at most this many: 1 to 200; default 50', number)
    .action(async (name: string, flags: { readonly limit?: number }) => {
      const engine = await connect()
      const found = await retryLost(() => engine.queues.keys(name, defined<QueueKeysOptions>({ ...flags })))
      if (found === undefined) throw await noQueue(engine, name)
      await out.answer({ ...found, partial: found.partial === true }, () => [
        ...out.list(
          found.tracked ? 'no keys' : 'this queue neither limits nor pauses keys, so they are not counted',
          [
            { title: 'KEY', text: ({ key }) => key },
            { title: 'WAITING', text: ({ waiting }) => countText(waiting), right: true },
            { title: 'ACTIVE', text: ({ active }) => countText(active), right: true },
            ...(found.keys.some(({ rate }) => rate !== undefined) ? [{ title: 'RATE NOW', text: bucketText }] : []),
            { title: '', text: (key) => (key.paused ? out.paint('yellow', pausedText(key)) : '') },
          ],
          found.keys,
        ),
        ...(found.partial
          ? [line`only the ${countText(LIMITS.keysLooked)} keys that are known longest, of ${countText(found.known)}`]
          : []),
      ])
    })
  const set = queues
    .command('set')
    .description('Change the settings of a queue at once; "none" removes one')
    .argument('<name>')
    .action(async (name: string, flags: Readonly<Record<string, unknown>>) => {
      if (Object.keys(flags).length === 0)
        throw new UsageError('nothing to set: give at least one of the flags of millrace queues set --help')
      const settings = removing(flags) as QueueOptions
      // A wrong call creates no file.
      nameOption('queue', name)
      validateQueueOptions(settings)
      const engine = await connect({ create: true })
      await engine.queues.configure(name, settings)
      const queue = await queueOf(context, name)
      await out.answer(queue, () => queueLines(queue, out.paint))
    })
  for (const [name, row] of Object.entries(SETTINGS)) {
    const { flag, help } = flagOf(QUEUE_OPTIONS, name)
    set.option(flag, help, orNone(writtenOf(row.kind).parse ?? String))
  }
  queues
    .command('pause')
    .description('Pause a queue: nothing starts until it is resumed, running jobs continue')
    .argument('<name>')
    .option('--job <name>', 'only jobs with this name')
    .option('--key <key>', 'only jobs with this concurrency key')
    .option('--for <duration>', 'resume after this time: 30s, 10m', duration)
    .action(async (name: string, { job, key, for: length }: PauseFlags) => {
      const engine = await connect()
      await engine.queues.pause(name, defined<PauseOptions>({ job, key, for: length }))
      // A longer pause may stand, whose end counts.
      const until = length === undefined ? undefined : pauseEnd(await queueOf(context, name), job, key)
      const end = until === undefined ? 'it is resumed' : timeText(until)
      const text = length === undefined ? '' : ` until ${end}`
      await out.answer({ queue: name, job, key, for: length, until, paused: true }, () => `paused ${name}${partText(job, key)}${text}`)
    })
  queues
    .command('resume')
    .description('Resume a paused or drained queue')
    .argument('<name>')
    .option('--job <name>', 'only jobs with this name')
    .option('--key <key>', 'only jobs with this concurrency key')
    .action(async (name: string, { job, key }: ResumeOptions) => {
      const engine = await connect()
      await engine.queues.resume(name, defined<ResumeOptions>({ job, key }))
      await out.answer({ queue: name, job, key, paused: false }, () => `resumed ${name}${partText(job, key)}`)
    })
  for (const [verb, description] of [
    ['pause', 'Pause all queues, new ones included: nothing starts until resume-all'],
    ['resume', 'Undo pause-all; queues that were paused on their own stay paused'],
  ] as const)
    queues
      .command(`${verb}-all`)
      .description(description)
      .action(async () => {
        const engine = await connect()
        await engine.queues[`${verb}All`]()
        await out.answer({ paused: verb === 'pause' }, () => `${verb}d`)
      })
  queues
    .command('drain')
    .description('Reject new jobs and wait until the queue is empty; resume ends the drain')
    .argument('<name>')
    .option('--timeout <duration>', 'stop waiting after this long; the queue keeps draining', duration)
    .action(async (name: string, { timeout }: { readonly timeout?: number }) => {
      const engine = await connect()
      // The engine would create the queue: a drain may come before the first job. Here, an unknown name is misspelt.
      await queueOf(context, name)
      await engine.queues.drain(name, defined<DrainOptions>({ timeout }))
      await out.answer({ queue: name, drained: true }, () => `${name} is empty, and takes no jobs until it is resumed`)
    })
  queues
    .command('purge')
    .description('Delete the jobs of a queue that are not running, after asking')
    .argument('<name>')
    .option('--state <states>', 'only jobs in these states: waiting,failed', names)
    .option('--dry-run', 'count them and delete nothing')
    .action((name: string, flags: PurgeFlags) => purge(context, name, flags))
  queues
    .command('delete')
    .description('Delete an empty queue with its settings, pauses and counters')
    .argument('<name>')
    .action(async (name: string) => {
      const engine = await connect()
      if (!(await engine.queues.delete(name))) throw await noQueue(engine, name)
      await out.answer({ queue: name, deleted: true }, () => `${name} deleted`)
    })
}

async function purge(context: Context, name: string, { state, dryRun = false, yes }: PurgeFlags): Promise<void> {
  const engine = await context.connect()
  await queueOf(context, name)
  const options = (dry: boolean) => defined<PurgeOptions>({ states: state, dryRun: dry })
  const counted = await engine.queues.purge(name, options(true))
  if (!dryRun) await confirm(context, `${many(counted.count, 'job')} of ${name} would be removed.`, yes)
  const result = dryRun ? counted : await engine.queues.purge(name, options(false))
  const left = result.active === 0 ? '' : `; ${countText(result.active)} that run are left`
  await context.out.answer(
    { queue: name, ...result, dryRun },
    () => `${many(result.count, 'job')} of ${name} ${dryRun ? 'would be removed' : 'removed'}${left}`,
  )
}

/** @throws NotFoundError */
export async function queueOf({ connect }: Context, name: string): Promise<QueueView> {
  const engine = await connect()
  const queue = await retryLost(() => engine.queues.get(name))
  if (queue === undefined) throw await noQueue(engine, name)
  return queue
}

/** Returns the error for a missing queue. It mentions jobs of that name, because queues and their jobs often have similar names. */
async function noQueue(engine: Engine, name: string): Promise<NotFoundError> {
  const { jobs } = await retryLost(() => engine.list({ name, limit: 1 }))
  const [job] = jobs
  return new NotFoundError(
    job === undefined
      ? `there is no queue ${name}: its first job or setting creates it`
      : `there is no queue ${name}; there are jobs named ${name} in queue ${job.queue}`,
  )
}

/** Returns when the pause of the queue, or of a name or a key in it, ends; undefined if it has no end. */
function pauseEnd({ pausedUntil, pauseEnds = [] }: QueueView, job: string | undefined, key: string | undefined): Date | undefined {
  if (job === undefined && key === undefined) return pausedUntil
  return pauseEnds.find((end) => end.job === job && end.key === key)?.until
}

/** Names the part of a queue that is paused or resumed. */
function partText(job: string | undefined, key: string | undefined): string {
  if (job !== undefined) return `, jobs ${job}`
  return key === undefined ? '' : `, key ${key}`
}

function stateText({ paused, pausedUntil, settings, pausedJobs, pausedKeys, pauseEnds = [] }: QueueView, paint: Paint): Text {
  if (settings.draining === true) return paint('yellow', 'draining')
  const end = (until: Date | undefined) => (until === undefined ? '' : ` until ${timeText(until)}`)
  if (paused) return paint('yellow', `paused${end(pausedUntil)}`)
  const some = [
    ...pausedJobs.map((job) => `jobs ${job}${end(pauseEnds.find((one) => one.job === job)?.until)}`),
    ...pausedKeys.map((key) => `key ${key}${end(pauseEnds.find((one) => one.key === key)?.until)}`),
  ]
  return some.length === 0 ? '' : paint('yellow', `paused: ${some.join(', ')}`)
}

function queueLines(queue: QueueView, paint: Paint): Line[] {
  const { name, states, retrying, totals, settings, rate: rateNow, sharedActive } = queue
  return fieldLines(
    [
      ['queue', name],
      ['state', stateText(queue, paint) || 'open'],
      ['jobs', statesText(states, retrying)],
      [
        'since the beginning',
        Object.entries(totals)
          .map(([what, count]) => `${countText(count)} ${what}`)
          .join(', '),
      ],
      ...(sharedActive === undefined ? [] : [['active under its shared limit', countText(sharedActive)] as const]),
      ...(rateNow === undefined ? [] : [['rate now', tokensText(rateNow)] as const]),
      ...Object.entries(settings).map(([setting, value]) => [setting, settingText(SETTINGS[setting]?.kind, value)] as const),
    ],
    paint,
  )
}

function bucketText({ rate }: QueueKey): string {
  return rate === undefined ? '' : tokensText(rate)
}

function pausedText({ pausedUntil }: QueueKey): string {
  return pausedUntil === undefined ? 'paused' : `paused until ${timeText(pausedUntil)}`
}

/** Formats a token bucket: `3 tokens, one more at 2026-11-21 17:04:05Z`. */
function tokensText({ tokens, nextAt }: QueueRate): string {
  return `${many(tokens, 'token')}${nextAt === undefined ? '' : `, one more at ${timeText(nextAt)}`}`
}
