/**
 * `millrace import`: creates jobs from a file of lines, or from the store of another queue. Lines that cannot be read are reported by
 * number, and the rest is enqueued.
 */

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { isErrorOf } from '@millrace/core'
import type { JobRequest } from '@millrace/engine'
import { type Command, Option } from 'commander'
import { type BulkResult, enqueueLines } from '../bulk.ts'
import type { Context } from '../context.ts'
import { FailedError, UsageError } from '../errors.ts'
import { explain } from '../explain.ts'
import { importedJob } from '../imported.ts'
import { type FromFlags, importFrom, NAMESPACES } from '../importFrom.ts'
import { addRunFlags, type RunFlags, runOptionsOf } from '../jobFlags.ts'
import type { Line } from '../lines.ts'
import { many } from '../output/amounts.ts'
import { names, parsedJson, texts } from '../values.ts'
import { existingText, tellDone } from './enqueue.ts'

interface Flags extends RunFlags, Partial<Omit<FromFlags, 'rename' | 'options'>> {
  readonly name?: string
  readonly rename?: readonly string[]
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
      .description('Create jobs from the lines of a file, or from the store of BullMQ, pg-boss, Graphile Worker or Agenda')
      .argument('[file]', 'file, or - for stdin; blank lines and lines with # are skipped; with --from the URL of the other queue')
      .option('--name <name>', 'name of all jobs: each line is the data of one'),
  )
    .option('--plain', 'with --name: each line is a string, not JSON')
    .option('--idempotency-prefix <text>', 'idempotency key of each job: this and its line number, so that you can import again')
    .addOption(
      new Option(
        '--from <queue>',
        `import the unfinished jobs of another queue, each of them once: ${Object.keys(NAMESPACES).join(', ')}`,
      ).choices(Object.keys(NAMESPACES)),
    )
    .option('--namespace <name>', `with --from: ${Object.values(NAMESPACES).join(', ')}`)
    .option('--only <names>', 'with --from: these queues, tasks or job names; repeat or separate with commas', names)
    .option('--rename <old=new>', 'with --from: give jobs of the old name the new one; repeat for more', texts)
    .option('--include-active', 'with --from: also import jobs that run there; they may run twice')
    .option('--dry-run', 'with --from: only show what would be imported')
    .option('--yes', 'with --from: do not ask')
    .action((file: string | undefined, flags: Flags) => {
      const { from } = flags
      if (from === undefined) return importFile(context, fileOf(file, flags), flags)
      for (const flag of ['plain', 'idempotencyPrefix'] as const)
        if (flags[flag] !== undefined)
          throw new UsageError(`${flag === 'plain' ? '--plain' : '--idempotency-prefix'} is for lines: leave it out with --from`)
      const { namespace, only, includeActive, dryRun, yes, name, rename } = flags
      const given = { from, namespace, only, includeActive, dryRun, yes, name }
      return importFrom(context, file, { ...given, rename: renamedOf(rename), options: runOptionsOf(flags) })
    })
}

/** The old name may contain anything, the new one no `=`. */
function renamedOf(pairs: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair): [string, string] => {
      const at = pair.lastIndexOf('=')
      if (at < 1) throw new UsageError(`--rename must be the old name, = and the new one, got ${JSON.stringify(pair)}`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

const FROM_FLAGS = {
  namespace: '--namespace',
  only: '--only',
  rename: '--rename',
  includeActive: '--include-active',
  dryRun: '--dry-run',
  yes: '--yes',
} as const

function fileOf(file: string | undefined, flags: Flags): string {
  for (const [name, flag] of Object.entries(FROM_FLAGS))
    if (flags[name as keyof typeof FROM_FLAGS] !== undefined) throw new UsageError(`${flag} requires --from, which names the other queue`)
  if (file === undefined) throw new UsageError('import requires a file, or --from with the URL of another queue')
  return file
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
  const done = await enqueueLines({ engine, out, input, jobOf: jobOfLine(flags), refused }).catch(tellDone)
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
    if (!isErrorOf(cause, 'SyntaxError')) throw cause
    throw new UsageError(`the line is not JSON: ${(cause as Error).message}`, { cause })
  }
}

async function openFile(file: string): Promise<NodeJS.ReadableStream> {
  try {
    const handle = await open(file)
    if ((await handle.stat()).isDirectory()) {
      await handle.close()
      throw new Error('it is a folder')
    }
    return createReadStream(file, { fd: handle })
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}
