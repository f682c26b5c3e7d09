/** `millrace import --from`: shows what another queue's store has and what becomes of it, asks, and imports it. */
import type { ImportFromOptions, ImportProgress, ImportSource, QueueImport } from '@millrace/import'
import { now } from './clock.ts'
import { confirm } from './confirm.ts'
import type { Context } from './context.ts'
import { FailedError, MissingPackageError, UsageError } from './errors.ts'
import { countText, many } from './output/amounts.ts'
import { targetName } from './target.ts'
import { amountText, errorLines, planLines } from './view/plan.ts'

/** The queues that @millrace/import reads, and what `--namespace` is there: the help says so also if that package is not installed. */
export const NAMESPACES: Readonly<Record<ImportSource, string>> = {
  bullmq: 'prefix (bullmq: bull)',
  'pg-boss': 'schema (pg-boss: pgboss)',
  'graphile-worker': 'schema (graphile-worker: graphile_worker)',
  agenda: 'collection (agenda: agendaJobs)',
}

export interface FromFlags extends Pick<ImportFromOptions, 'namespace' | 'only' | 'includeActive' | 'name' | 'rename' | 'options'> {
  readonly from: ImportSource
  readonly dryRun?: boolean | undefined
  readonly yes?: boolean | undefined
}

/** @param given the URL of the store, which the environment may have as well: other users can list arguments */
export async function importFrom(context: Context, given: string | undefined, flags: FromFlags): Promise<void> {
  const { env, out, signal } = context
  const { from, dryRun, yes, ...options } = flags
  const url = given ?? env['MILLRACE_IMPORT_URL']
  if (url === undefined)
    throw new UsageError(`--from ${from} requires the URL of its store: give it as the argument or in MILLRACE_IMPORT_URL`)
  const { importFrom: open } = await load()
  const progress = out.progress()
  const onRead = (entries: number) => progress.show(() => `reading: ${many(entries, 'item')}`)
  const queue = await open(from, url, { ...options, signal, onRead }).finally(() => progress.end())
  try {
    await importQueue(context, queue, dryRun === true, yes)
  } finally {
    await queue.close().catch(() => {})
  }
}

/** @throws MissingPackageError */
async function load(): Promise<typeof import('@millrace/import')> {
  try {
    return await import('@millrace/import')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new MissingPackageError('--from', '@millrace/import', { cause })
  }
}

async function importQueue(context: Context, queue: QueueImport, dryRun: boolean, yes: boolean | undefined): Promise<void> {
  const { out } = context
  const { source, plan } = queue
  if (!out.json) await out.lines(planLines(out, source, plan))
  if (dryRun) {
    if (out.json) await out.answer({ source, plan }, () => [])
    return
  }
  await confirm(context, `Import ${amountText(plan)} into ${targetName(context.target())}?`, yes)
  const result = await take(context, queue)
  await out.answer({ source, plan, ...result }, () => takenText(result))
  const known = new Set(plan.errors.map(({ id }) => id))
  if (!out.json) for (const line of errorLines(result.errors.filter(({ id }) => !known.has(id)))) out.note(line)
  if (result.changed)
    throw new FailedError(`${source} has changed meanwhile: stop its producers and workers, and repeat the command to import the rest`)
  if (result.unfit > 0) throw new FailedError(`${many(result.unfit, 'item')} could not be imported`)
}

async function take({ connect, out }: Context, queue: QueueImport) {
  const engine = await connect({ create: true })
  const progress = out.progress()
  const begun = now()
  let taken: ImportProgress | undefined
  try {
    return await queue.into(engine, (soFar) => {
      taken = soFar
      const count = soFar.jobs + soFar.existing
      progress.show(() => {
        const perSecond = Math.round(count / Math.max(0.001, (now() - begun) / 1_000))
        return `${countText(count)} of ${many(queue.plan.jobs, 'job')}, ${countText(perSecond)}/s`
      })
    })
  } catch (error) {
    if (taken !== undefined && !out.json) out.note(`${takenText(taken)} before it ended: the same command imports the rest`)
    throw error
  } finally {
    progress.end()
  }
}

function takenText(taken: ImportProgress): string {
  const { existing } = taken
  return `${amountText(taken)} imported${existing === 0 ? '' : `, ${countText(existing)} already there`}`
}
