/** `millrace jobs`: finds, shows and changes jobs. */
import { retryLost } from '@millrace/client'
import { integerOption, RUN_CHANGES, type RunChange } from '@millrace/core'
import type {
  CancelManyOptions,
  CancelOptions,
  Engine,
  GetOptions,
  Job,
  ListOptions,
  ManyFilter,
  ManyOptions,
  ManyResult,
  RetryOptions,
  SendOptions,
  Sent,
  StepsOptions,
  UpdateManyChanges,
} from '@millrace/engine'
import type { Command } from 'commander'
import { defined } from '../../defined.ts'
import { ASKS } from '../asks.ts'
import { now } from '../clock.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { addFilters, type FilterFlags, filterOf } from '../filterFlags.ts'
import { defaultCommand } from '../groups.ts'
import { addRowFlags } from '../jobFlags.ts'
import { explanationOf, jobOf, wholeId } from '../jobOf.ts'
import { followLogs, type LogsFlags } from '../logs.ts'
import { countText, many } from '../output/amounts.ts'
import type { Line } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import type { Column } from '../output/table.ts'
import { dataOf, json, number, texts, time } from '../values.ts'
import { jobColumns, jobLines, LAST_RUN_COLUMNS } from '../view/job.ts'
import { stepLines } from '../view/step.ts'

interface ListFlags extends FilterFlags {
  readonly search?: string
  readonly order?: string
  readonly after?: string
  readonly limit?: number
  readonly all?: boolean
  readonly lastRun?: boolean
  readonly payload?: string
}

interface ManyFlags extends FilterFlags, Readonly<Partial<Record<RunChange, unknown>>> {
  readonly search?: string
  readonly all?: true
  readonly limit?: number
  readonly dryRun?: boolean
  readonly descendants?: boolean
  readonly from?: string
  readonly yes?: boolean
  readonly runAt?: Date
  readonly setTag?: readonly string[]
  readonly clearTags?: true
  readonly setMeta?: unknown
  readonly reason?: string
}

interface SendFlags {
  readonly binary?: boolean
  readonly idempotencyKey?: string
  readonly by?: string
}

/** The number of jobs per request when all are listed. */
const PAGE = 200

export function addJobs(program: Command, context: Context): void {
  const jobs = program.command('jobs').description('Find, inspect and change jobs')
  addFilters(defaultCommand(jobs, 'list').description('List jobs, newest first'))
    .option('--search <text>', 'only jobs that contain this string')
    .option(
      '--order <order>',
      'order of the jobs: newest, oldest, finished (last finished first, with a final --state) or due (with --state scheduled)',
    )
    .option('--limit <number>', 'at most this many; default 50', number)
    .option('--after <cursor>', '"next" of the previous page')
    .option('--all', 'all pages, up to --limit')
    .option('--last-run', "show the worker and the error of each job's last run")
    .option('--payload <mode>', 'with --json, data, output and checkpoint: full, preview (512 bytes of each) or none; default full')
    .action((flags: ListFlags) => list(context, flags))
  jobs
    .command('show')
    .description('Show a job with its attempts, errors and logs')
    .argument('<id>')
    .option('--payload <mode>', 'data, output and checkpoint: full, preview (64 KiB of each) or none; default full')
    .action(async (id: string, { payload }: { readonly payload?: string }) => {
      const engine = await context.connect()
      const job = await jobOf(engine, id, defined<GetOptions>({ payload }))
      const sleep = context.out.json || job.state !== 'scheduled' ? undefined : await sleepOf(engine, job.id)
      await context.out.answer(job, () => jobLines(job, context.out.paint, sleep))
    })
  jobs
    .command('explain')
    .description('Show why a job has not ended: pauses, limits, workers, other jobs')
    .argument('<id>')
    .action(async (id: string) => {
      const explanation = await explanationOf(await context.connect(), id)
      const { message, causes } = explanation
      await context.out.answer(explanation, () => (causes.length === 0 ? [message] : causes.map((cause) => cause.message)))
    })
  jobs
    .command('steps')
    .description('Show the stored steps of a job, its open waits and the messages that it keeps')
    .argument('<id>')
    .option('--limit <number>', 'at most this many results; default 100', number)
    .option('--after <number>', '"next" of the previous page', number)
    .action(async (id: string, flags: StepsOptions) => {
      const engine = await context.connect()
      const page = await retryLost(() => engine.steps(id, flags))
      await context.out.answer(page, () => stepLines(page, context.out, now()))
      context.out.more(page.next?.toString())
    })
  jobs
    .command('send')
    .description('Send a message to a job, which its handler takes by waitFor')
    .argument('<id>')
    .argument('<message>', 'name of the message')
    .argument('[data]', 'JSON, @file, or - for stdin')
    .option('--binary', 'the data is bytes: base64, or a file of any bytes')
    .option('--idempotency-key <key>', 'store the message once, however often it is sent to the job')
    .option('--by <name>', 'name of who sends it; default over a connection: that of the token')
    .action((id: string, message: string, data: string | undefined, flags: SendFlags) => send(context, id, message, data, flags))
  addChange(jobs, context, 'cancel', 'Cancel jobs: waiting jobs at once, running jobs through their signal')
  addChange(jobs, context, 'retry', 'Run failed and cancelled jobs again, and waiting retries at once')
  jobs
    .command('again')
    .description('Create copies of jobs, with their data and options, and print their ids')
    .argument('<id...>')
    .action(async (ids: readonly string[]) => {
      const engine = await context.connect()
      for (const each of ids) {
        const { id } = await engine.enqueueAgain(await wholeId(engine, each))
        await context.out.item({ id, copyOf: each }, () => id)
      }
    })
  addChange(jobs, context, 'delete', 'Delete jobs that are not running, with their attempts and logs')
  addChange(jobs, context, 'run', 'Make scheduled jobs due now')
  addChange(jobs, context, 'update', 'Change jobs: tags and meta in any state, the rest before they have started')
  jobs
    .command('logs')
    .description('Print the log lines of a job')
    .argument('<id>')
    .option('--run <number>', 'only the lines of this run', number)
    .option('-f, --follow', 'keep printing until the job has ended')
    .action((id: string, flags: LogsFlags) => followLogs(context, id, flags))
}

async function send(context: Context, id: string, message: string, data: string | undefined, flags: SendFlags): Promise<void> {
  const value = await dataOf(data, flags.binary)
  const { idempotencyKey, by } = flags
  const engine = await context.connect()
  const outcome = await engine.send(await wholeId(engine, id), message, value, defined<SendOptions>({ idempotencyKey, by }))
  await context.out.answer({ id, message, outcome }, () => [SAID[outcome]])
}

const SAID: Readonly<Record<Sent, string>> = {
  taken: 'taken: the job has waited for it, and continues',
  kept: 'kept: the job has not waited for it yet',
  known: 'known: a message with that key was sent to the job before',
}

/** Returns the name of the sleep that the job's handler is in, or of the message that it waits for; undefined if it does neither. */
async function sleepOf(engine: Engine, id: string): Promise<string | undefined> {
  const explanation = await retryLost(() => engine.explain(id))
  const [wait] = explanation?.causes ?? []
  if (wait?.code === 'message') return `waitFor ${wait.of}`
  return wait?.code === 'sleep' ? wait.of : undefined
}

async function list(context: Context, flags: ListFlags): Promise<void> {
  const { out } = context
  const { all = false, limit } = flags
  const engine = await context.connect()
  const { search, order, after, lastRun } = flags
  // A table shows no payloads.
  const payload = flags.payload ?? (out.json ? undefined : 'none')
  const options = defined<ListOptions>({ ...filterOf(flags), search, order, after, limit, payload, lastRun })
  if (all) return listAll(context, engine, options)
  const page = await retryLost(() => engine.list(options))
  await out.answer({ jobs: page.jobs, next: page.next, partial: page.partial === true }, () =>
    out.list('no jobs', listColumns(out, lastRun), page.jobs),
  )
  out.more(page.next)
}

function listColumns({ paint }: Output, lastRun = false): readonly Column<Job>[] {
  return lastRun ? [...jobColumns(paint, now()), ...LAST_RUN_COLUMNS] : jobColumns(paint, now())
}

/** Prints all pages. Each page is requested after the previous one is printed. */
async function listAll({ out, signal }: Context, engine: Engine, options: ListOptions): Promise<void> {
  let left = options.limit === undefined ? Number.POSITIVE_INFINITY : integerOption('limit', options.limit, 1, Number.MAX_SAFE_INTEGER)
  let after = options.after
  let first = true
  do {
    const asked = after
    const wanted = { ...options, limit: Math.min(left, PAGE), ...(asked !== undefined && { after: asked }) }
    const { jobs, next } = await retryLost(() => engine.list(wanted))
    if (out.json) for (const job of jobs) await out.item(job, () => '')
    else {
      const [title, ...lines] = first
        ? out.list('no jobs', listColumns(out, options.lastRun), jobs)
        : out.table(listColumns(out, options.lastRun), jobs)
      await out.lines(first ? [title as Line, ...lines] : lines)
    }
    first = false
    left -= jobs.length
    after = next
  } while (after !== undefined && left > 0 && !signal.aborted)
}

const RUN_CHANGE_NAMES = Object.keys(RUN_CHANGES) as RunChange[]

type Change = keyof typeof CALLS

interface Call {
  /** Resolves to what the job is afterwards. */
  one(engine: Engine, id: string, flags: ManyFlags): Promise<string>
  many(engine: Engine, filter: ManyFilter, options: ManyOptions, flags: ManyFlags): Promise<ManyResult>
  readonly done: string
}

const CALLS = {
  cancel: {
    one: (engine, id, { descendants = false, reason }) => engine.cancel(id, defined<CancelOptions>({ descendants, reason })),
    many: (engine, filter, options, { reason }) => engine.cancelMany(filter, defined<CancelManyOptions>({ ...options, reason })),
    done: 'cancelled',
  },
  retry: {
    one: (engine, id, { descendants, from }) => engine.retry(id, defined<RetryOptions>({ descendants, from })).then(() => 'waiting'),
    many: (engine, filter, options) => engine.retryMany(filter, options),
    done: 'retried',
  },
  delete: {
    one: (engine, id) => engine.delete(id).then(() => 'deleted'),
    many: (engine, filter, options) => engine.deleteMany(filter, options),
    done: 'deleted',
  },
  run: {
    one: (engine, id) => engine.runNow(id).then(() => 'due'),
    many: (engine, filter, options) => engine.runNowMany(filter, options),
    done: 'made due',
  },
  update: {
    one: (engine, id, flags) => engine.update(id, changesOf(flags)).then(() => 'updated'),
    many: (engine, filter, options, flags) => engine.updateMany(filter, changesOf(flags), options),
    done: 'updated',
  },
} as const satisfies Readonly<Record<string, Call>>

function changesOf({ runAt, setTag, clearTags, setMeta, ...flags }: ManyFlags): UpdateManyChanges {
  if (setTag !== undefined && clearTags !== undefined) throw new UsageError('give either --set-tag or --clear-tags, not both')
  const ofRuns = Object.fromEntries(RUN_CHANGE_NAMES.map((name) => [name, flags[name]]))
  return defined<UpdateManyChanges>({ runAt, ...ofRuns, tags: clearTags ? [] : setTag, meta: setMeta })
}

function addChange(jobs: Command, context: Context, change: Change, description: string): void {
  const command = addFilters(jobs.command(change).description(description).argument('[id...]', 'job ids; or use flags to select jobs'))
    .option('--search <text>', 'only jobs that contain this string')
    .option('--all', 'every job')
    .option('--limit <number>', 'with flags: at most this many', number)
    .option('--dry-run', 'with flags: count them and change nothing')
  if (change === 'cancel' || change === 'retry') command.option('--descendants', 'also select the jobs of its flow that wait for it')
  if (change === 'retry') command.option('--from <name>', "step at which a job resumes, or 'start'; default its first failed step")
  if (change === 'cancel') command.option('--reason <text>', 'reason for the cancel, stored with the jobs and passed to their handlers')
  if (change === 'update') {
    addRowFlags(command, RUN_CHANGES)
    command
      .option('--run-at <time>', 'do not start them before this time', time)
      .option('--set-tag <tag>', 'replace all their tags; repeat for more', texts)
      .option('--clear-tags', 'remove all their tags')
      .option('--set-meta <json>', 'replace their meta', json)
  }
  command.action((ids: readonly string[], flags: ManyFlags) =>
    ids.length === 0 ? changeMany(context, change, flags) : changeEach(context, change, ids, flags),
  )
}

/** Flags that do not select jobs. */
const OF_EACH = new Set(['descendants', 'from', 'reason', 'yes', 'runAt', ...RUN_CHANGE_NAMES, 'setTag', 'clearTags', 'setMeta'])

async function changeEach({ out, connect }: Context, change: Change, ids: readonly string[], flags: ManyFlags): Promise<void> {
  const other = Object.keys(flags).find((name) => !OF_EACH.has(name))
  if (other !== undefined) throw new UsageError(`give either ids or flags that select jobs, not both: got ids and ${other}`)
  const engine = await connect()
  for (const each of ids) {
    const id = await wholeId(engine, each)
    const result = await CALLS[change].one(engine, id, flags)
    await out.item({ id, result }, () => `${id} ${result}`)
  }
}

async function changeMany(context: Context, change: Change, flags: ManyFlags): Promise<void> {
  const { search, all, limit, dryRun = false, descendants, from, yes } = flags
  if (descendants !== undefined) throw new UsageError('--descendants requires the id of a job')
  if (from !== undefined) throw new UsageError('--from requires the id of a job')
  const filter = defined<ManyFilter>({ ...filterOf(flags), search, all })
  // The engine would reject it too, but this error names the flags.
  if (Object.keys(filter).length === 0)
    throw new UsageError(`no jobs selected: give ids, or flags such as --state, --queue, --name or --tag; --all selects every job`)
  const engine = await context.connect()
  const call = (dry: boolean) => CALLS[change].many(engine, filter, defined<ManyOptions>({ limit, dryRun: dry || undefined }), flags)
  const isEvery = Object.keys(filter).every((name) => name === 'all')
  if (!dryRun && (ASKS[`jobs ${change}`] === 'selected' || isEvery)) {
    const { changed } = await call(true)
    await confirm(context, `${many(changed, 'job')} would be ${CALLS[change].done}.`, yes)
  }
  const result = await call(dryRun)
  await context.out.answer({ ...result, dryRun }, () => manyText(result, dryRun ? `would be ${CALLS[change].done}` : CALLS[change].done))
}

export function manyText({ changed, skipped }: ManyResult, done: string): string {
  const left = Object.entries(skipped).map(([reason, count]) => `${countText(count)} ${reason}`)
  return `${many(changed, 'job')} ${done}${left.length === 0 ? '' : `; left: ${left.join(', ')}`}`
}
