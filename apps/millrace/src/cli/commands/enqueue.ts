/** `millrace enqueue`: creates one job, or one for each line of stdin. */
import { retryLost } from '@millrace/client'
import { bytesOption, type EnqueueOptions, encodeData, isErrorOf, nameOption, newJobFrom, type OptionTypeError } from '@millrace/core'
import type { Command } from 'commander'
import { type BulkResult, enqueueLines } from '../bulk.ts'
import { newKey } from '../clock.ts'
import type { Context } from '../context.ts'
import { FailedError, UsageError } from '../errors.ts'
import { inboxOf } from '../inbox.ts'
import { addJobFlags, enqueueOptionsOf, type JobFlags } from '../jobFlags.ts'
import type { Line } from '../lines.ts'
import { many } from '../output/amounts.ts'
import { plain } from '../output/plain.ts'
import { dataOf, duration, parsedJson } from '../values.ts'

interface Flags extends JobFlags {
  readonly binary?: boolean
  readonly idempotencyPrefix?: string
  readonly wait?: boolean
  readonly waitTimeout?: number
}

/** The lifetime of the automatic idempotency key, which makes it safe to repeat a call. */
const REPEAT_TTL = '10m'

export function addEnqueue(program: Command, context: Context): void {
  addJobFlags(
    program
      .command('enqueue')
      .description('Create a job')
      .argument('<name>', 'name of the job, which selects its handler')
      .argument('[data]', 'JSON, @file, or - to create a job for each line of JSON on stdin'),
  )
    .option('--binary', 'the data is bytes: base64, a file of any bytes, or with - a line of base64 for each job')
    .option('--idempotency-prefix <text>', 'with -: the idempotency key of each job is this and its line number')
    .option('--wait', "wait for the job's result and print it")
    .option('--wait-timeout <duration>', 'with --wait: stop waiting after this long; the job continues', duration)
    .action(async (name: string, data: string | undefined, flags: Flags) => {
      if (data === '-') await enqueueStream(context, name, flags)
      else await enqueueOne(context, name, data, flags)
    })
}

async function enqueueOne(context: Context, name: string, data: string | undefined, flags: Flags): Promise<void> {
  const { out } = context
  const { wait = false, waitTimeout, idempotencyPrefix } = flags
  if (waitTimeout !== undefined && !wait) throw new UsageError('--wait-timeout requires --wait')
  if (idempotencyPrefix !== undefined)
    throw new UsageError('--idempotency-prefix requires - as <data>: use --idempotency-key for a single job')
  const value = await dataOf(data, flags.binary)
  const asked = checked(name, flags, value)
  const inbox = wait ? undefined : await inboxOf(context.target(), out)
  if (inbox !== undefined) {
    const [entry] = await inbox.enqueueMany([{ job: name, data: value, options: asked }])
    await out.answer({ id: entry?.id, created: true }, () => entry?.id ?? '')
    return
  }
  const engine = await context.connect({ create: true, owns: false })
  const options = repeatable(asked)
  const job = await retryLost(() => engine.enqueue(name, value, options))
  // If the key is this run's own, an earlier job is this one.
  const created = job.created || (options.idempotencyKey !== asked.idempotencyKey && options.unique === undefined)
  if (!wait) {
    if (!created && !out.json) out.note('this job already exists')
    await out.answer({ id: job.id, created }, () => job.id)
    return
  }
  const output = await job.result({ ...(waitTimeout !== undefined && { timeout: waitTimeout }), signal: context.signal })
  await out.answer({ id: job.id, created, output }, () => JSON.stringify(plain(output), undefined, 2).split('\n'))
}

/** Returns the options. They are checked before the command connects: a wrong call creates no file. */
function checked(name: string, flags: JobFlags, data?: unknown): EnqueueOptions {
  const options = enqueueOptionsOf(flags)
  // The engine may accept more or less data than by default, and says so.
  newJobFrom(nameOption('name', name), encodeData('data', data, Number.POSITIVE_INFINITY), options, undefined)
  return options
}

/** Checks the options of many jobs. A key by fields depends on the data of each: the other options are checked with another key. */
function checkedForMany(name: string, flags: JobFlags): EnqueueOptions {
  const { uniqueData, uniqueBy, ...others } = flags
  const byFields = flags.unique === undefined && (uniqueData === true || uniqueBy !== undefined)
  checked(name, byFields ? { ...others, unique: 'any' } : flags)
  return enqueueOptionsOf(flags)
}

/** Adds an idempotency key. Calls are repeated if another short command owns the file and ends first, but create only one job. */
function repeatable(options: EnqueueOptions): EnqueueOptions {
  if (options.idempotencyKey !== undefined || options.debounce !== undefined || options.throttle !== undefined) return options
  // The engine reports what is wrong with it.
  if (options.idempotencyTtl !== undefined) return options
  return { ...options, idempotencyKey: `cli:${newKey()}`, idempotencyTtl: REPEAT_TTL }
}

async function enqueueStream(context: Context, name: string, flags: Flags): Promise<void> {
  const { out, stdin } = context
  const { idempotencyPrefix, wait } = flags
  for (const [flag, value] of [['--wait', wait] as const, ['--idempotency-key', flags.idempotencyKey] as const]) {
    if (value !== undefined) throw new UsageError(`${flag} is for a single job: leave it out when <data> is -`)
  }
  const options = checkedForMany(name, flags)
  const engine = (await inboxOf(context.target(), out)) ?? (await context.connect({ create: true, owns: false }))
  const jobOf = ({ number, text }: Line) => {
    const keyed = idempotencyPrefix === undefined ? options : { ...options, idempotencyKey: `${idempotencyPrefix}${number}` }
    return { job: name, data: flags.binary === true ? bytesOption('data', text.trim()) : parse(text), options: keyed }
  }
  const refused = ({ number }: Line, error: unknown): never => {
    throw Object.assign(error as Error, { message: `line ${number}: ${(error as Error).message}` })
  }
  const result = await enqueueLines({ engine, out, input: stdin, jobOf, refused }).catch(tellDone)
  await out.answer(result, () => `${many(result.enqueued, 'job')} enqueued${existingText(result)}`)
}

function parse(text: string): unknown {
  try {
    return parsedJson('data', text)
  } catch (cause) {
    if (!isErrorOf(cause, 'SyntaxError')) throw cause
    throw new UsageError(`the line is not JSON: ${(cause as Error).message}`, { cause })
  }
}

/** Rethrows the error that ended a stream, and adds how many jobs of the lines before it are in the queue. */
export function tellDone(error: unknown): never {
  const { enqueued = 0, existing = 0, category, message } = error as Error & Partial<BulkResult & OptionTypeError>
  if (enqueued + existing === 0) throw error
  const text = `${message}; ${many(enqueued, 'job')} enqueued before it ended${existingText({ enqueued, existing })}`
  // The exit code of misuse means that nothing was done.
  if (category === 'invalid') throw new FailedError(text, { cause: error })
  throw Object.assign(error as Error, { message: text })
}

export function existingText({ existing }: BulkResult): string {
  return existing === 0 ? '' : `, ${many(existing, 'job')} already there`
}
