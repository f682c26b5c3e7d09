/** `millrace import`: creates jobs from a file of lines. Lines that cannot be read are reported by number, and the rest is enqueued. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { JobRequest } from '@millrace/engine'
import type { Command } from 'commander'
import { type BulkResult, enqueueLines } from '../bulk.ts'
import type { Context } from '../context.ts'
import { FailedError, UsageError } from '../errors.ts'
import { explain } from '../explain.ts'
import { importedJob } from '../imported.ts'
import { addRunFlags, type RunFlags, runOptionsOf } from '../jobFlags.ts'
import type { Line } from '../lines.ts'
import { many } from '../output/amounts.ts'
import { parsedJson } from '../values.ts'
import { existingText, tellDone } from './enqueue.ts'

interface Flags extends RunFlags {
  readonly name?: string
  readonly plain?: boolean
  readonly idempotencyPrefix?: string
}

interface LineError {
  readonly line: number
  readonly code: string
  readonly message: string
}

/** The number of errors that are reported one by one. The others are counted. */
const ERRORS_MAX = 20

export function addImport(program: Command, context: Context): void {
  addRunFlags(
    program
      .command('import')
      .description(
        'Create a job for each line of a file: {"name","data","options"} or a line of millrace export; with --name the data of a job',
      )
      .argument('<file>', 'file, or - for stdin; blank lines and lines with # are skipped')
      .option('--name <name>', 'name of all jobs: each line is the data of one'),
  )
    .option('--plain', 'with --name: each line is a string and not JSON')
    .option('--idempotency-prefix <text>', 'idempotency key of each job: this and its line number, so that you can import again')
    .action((file: string, flags: Flags) => importFile(context, file, flags))
}

async function importFile(context: Context, file: string, flags: Flags): Promise<void> {
  const { connect, out, stdin } = context
  const { name, plain = false } = flags
  if (plain && name === undefined) throw new UsageError('--plain requires --name: a plain line has no job name')
  const input = file === '-' ? stdin : await openFile(file)
  const engine = await connect({ create: true })
  const errors: LineError[] = []
  let refusals = 0
  const refused = ({ number: line }: Line, error: unknown) => {
    const { code, message } = explain(error, undefined)
    if (++refusals > ERRORS_MAX) return
    errors.push({ line, code, message })
    if (!out.json) out.note(`line ${line}: ${message} (${code})`)
  }
  const done = await enqueueLines({ engine, out, input, jobOf: jobOfLine(flags), refused }).catch((error: unknown) =>
    tellDone(context, error),
  )
  const result: BulkResult & { readonly refused: number } = { ...done, refused: refusals }
  await out.answer({ ...result, errors }, () => `${many(result.enqueued, 'job')} enqueued${existingText(result)}`)
  if (refusals > 0) throw new FailedError(`${many(refusals, 'line')} could not be imported`)
}

function jobOfLine({ name, plain, idempotencyPrefix, ...flags }: Flags): (line: Line) => JobRequest | undefined {
  const options = runOptionsOf(flags)
  return ({ number, text }) => {
    // A comment line, as over HTTP. No JSON begins with `#`.
    if (text.startsWith('#')) return undefined
    const data = plain === true ? text : parse(text)
    const job = name === undefined ? importedJob(data) : { job: name, data }
    const key = idempotencyPrefix === undefined ? {} : { idempotencyKey: `${idempotencyPrefix}${number}` }
    return { ...job, options: { ...job.options, ...options, ...key } }
  }
}

function parse(text: string): unknown {
  try {
    return parsedJson('data', text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new UsageError(`no JSON: ${(cause as Error).message}`, { cause })
  }
}

async function openFile(file: string): Promise<NodeJS.ReadableStream> {
  try {
    const handle = await open(file)
    return createReadStream(file, { fd: handle })
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}
