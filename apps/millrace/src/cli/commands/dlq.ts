/** `millrace dlq`: lists, retries and deletes permanently failed jobs. */
import { retryLost } from '@millrace/client'
import type { ListOptions, ManyFilter, ManyOptions, RedriveOptions } from '@millrace/engine'
import type { Command } from 'commander'
import { defined } from '../../defined.ts'
import { now } from '../clock.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { defaultCommand } from '../groups.ts'
import { noJob, wholeId } from '../jobOf.ts'
import { awayText, many } from '../output/amounts.ts'
import { number } from '../values.ts'
import { errorText } from '../view/job.ts'
import { manyText } from './jobs.ts'

interface Flags {
  readonly queue?: string
  readonly name?: string
  readonly limit?: number
  readonly after?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export function addDlq(program: Command, context: Context): void {
  const dlq = program.command('dlq').description('Inspect and retry permanently failed jobs')
  addFlags(defaultCommand(dlq, 'list').description('List permanently failed jobs with their last error, newest first'))
    .option('--limit <number>', 'at most this many: 1 to 200; default 50', number)
    .option('--after <cursor>', '"next" of the previous page')
    .action((flags: Flags) => list(context, flags))
  addFlags(dlq.command('retry').description('Run failed jobs again from their first attempt, oldest failure first'))
    .argument('[id...]', 'only these jobs')
    .option('--limit <number>', 'without ids: at most this many', number)
    .action((ids: readonly string[], flags: Flags) => retry(context, ids, flags))
  addFlags(dlq.command('purge').description('Delete failed jobs, after showing how many and asking'))
    .option('--limit <number>', 'at most this many', number)
    .option('--dry-run', 'count them and delete nothing')
    .action((flags: Flags) => purge(context, flags))
}

function addFlags(command: Command): Command {
  return command.option('--queue <name>', 'only jobs in this queue').option('--name <name>', 'only jobs with this name')
}

async function list({ connect, out }: Context, { queue, name, limit, after }: Flags): Promise<void> {
  const engine = await connect()
  // A table shows no payloads.
  const payload = out.json ? undefined : 'none'
  const page = await retryLost(() =>
    engine.list(defined<ListOptions>({ state: 'failed', queue, name, limit, after, payload, lastRun: true })),
  )
  const failed = page.jobs.map((job) => ({ ...job, lastError: job.lastRun?.error }))
  await out.answer({ jobs: failed, next: page.next }, () =>
    out.list(
      'no failed jobs',
      [
        { title: 'ID', text: (job) => job.id },
        { title: 'NAME', elastic: true, text: (job) => job.name },
        { title: 'QUEUE', elastic: true, text: (job) => job.queue },
        { title: 'ATTEMPTS', text: (job) => String(job.attempt), right: true },
        { title: 'FAILED', text: (job) => awayText(job.finishedAt, now()) },
        { title: 'ERROR', elastic: true, text: errorText },
      ],
      failed,
    ),
  )
  out.more(page.next)
}

async function retry(context: Context, given: readonly string[], { queue, name, limit, yes }: Flags): Promise<void> {
  const { connect, out } = context
  const engine = await connect()
  const ids = await Promise.all(given.map((id) => wholeId(engine, id)))
  if (ids.length === 0) {
    if (queue === undefined && name === undefined) {
      const { changed } = await engine.retryMany({ state: 'failed' }, defined<ManyOptions>({ limit, dryRun: true }))
      await confirm(context, `${many(changed, 'failed job')} would be retried.`, yes)
    }
    const { count } = await engine.redrive(defined<RedriveOptions>({ queue, name, limit }))
    await out.answer({ count }, () => `${many(count, 'job')} retried`)
    return
  }
  // A filter passes over an id that no job has. To read the job would require another scope.
  const isThere = async (...some: readonly string[]) =>
    (await engine.retryMany({ ids: some }, { dryRun: true })).matched === new Set(some).size
  if (!(await isThere(...ids))) for (const id of ids) if (!(await isThere(id))) throw noJob(id)
  const { matched, changed, skipped } = await engine.retryMany(
    defined<ManyFilter>({ ids, state: 'failed', queue, name }),
    defined<ManyOptions>({ limit }),
  )
  await out.answer({ count: changed, matched, skipped }, () => manyText({ matched, changed, skipped }, 'retried'))
}

async function purge(context: Context, { queue, name, limit, dryRun = false, yes }: Flags): Promise<void> {
  const engine = await context.connect()
  const filter = defined<ManyFilter>({ state: 'failed', queue, name })
  const call = (dry: boolean) => engine.deleteMany(filter, defined<ManyOptions>({ limit, dryRun: dry || undefined }))
  const { changed: count } = await call(true)
  if (!dryRun) await confirm(context, `${many(count, 'failed job')} would be removed.`, yes)
  const result = dryRun ? { changed: count } : await call(false)
  await context.out.answer(
    { count: result.changed, dryRun },
    () => `${many(result.changed, 'failed job')} ${dryRun ? 'would be removed' : 'removed'}`,
  )
}
