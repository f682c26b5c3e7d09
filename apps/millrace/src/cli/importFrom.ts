/** `millrace import --from`: shows what another queue's store has and what becomes of it, asks, and imports it. */
import { type Overrides, type Plan, planOf } from '../import/plan.ts'
import type { Source } from '../import/source.ts'
import { SOURCES, type SourceKind } from '../import/sources.ts'
import { type Taken, takeAll } from '../import/take.ts'
import { now } from './clock.ts'
import { confirm } from './confirm.ts'
import type { Context } from './context.ts'
import { FailedError, UsageError } from './errors.ts'
import { countText, many } from './output/amounts.ts'
import { targetName } from './target.ts'
import { amountText, errorLines, planJson, planLines } from './view/plan.ts'

export interface FromFlags {
  readonly from: string
  readonly namespace?: string
  readonly only?: readonly string[]
  readonly rename?: readonly string[]
  readonly includeActive?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** @param given the URL of the store, which the environment may have as well: other users can list arguments */
export async function importFrom(context: Context, given: string | undefined, flags: FromFlags, overrides: Overrides): Promise<void> {
  const { env, signal } = context
  const kind = SOURCES[flags.from] as SourceKind
  const url = given ?? env['MILLRACE_IMPORT_URL']
  if (url === undefined || !kind.url.test(url))
    throw new UsageError(
      `--from ${flags.from} requires the URL of its store, such as ${kind.example}: give it as the argument or in MILLRACE_IMPORT_URL`,
    )
  const { namespace = kind.namespace, only, includeActive = false } = flags
  const source = await kind.open({ url, namespace, includeActive, only: only === undefined ? undefined : new Set(only) })
  const close = () => void source.close().catch(() => {})
  signal.addEventListener('abort', close, { once: true })
  try {
    await importSource(context, source, kind, flags, overrides)
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

async function importSource(context: Context, source: Source, kind: SourceKind, flags: FromFlags, overrides: Overrides): Promise<void> {
  const { out } = context
  const { dryRun = false, yes } = flags
  const plan = await planned(context, source, overrides)
  const name = `${kind.title} at ${source.at}`
  const json = planJson(name, plan, source.features)
  if (!out.json) await out.lines(planLines(out, name, plan, source.features))
  if (dryRun) {
    if (out.json) await out.answer(json, () => [])
    return
  }
  await confirm(context, `Import ${amountText(plan)} into ${targetName(context.target())}?`, yes)
  const taken = await take(context, source, flags.from, plan, overrides)
  const changed = (await source.version()) !== plan.version
  await out.answer({ ...json, ...taken, changed }, () => takenText(taken))
  const known = new Set(plan.errors.map(({ id }) => id))
  if (!out.json) for (const line of errorLines(taken.errors.filter(({ id }) => !known.has(id)))) out.note(line)
  if (changed)
    throw new FailedError(`${name} has changed meanwhile: stop its producers and workers, and repeat the command to import the rest`)
  if (taken.unfit > 0) throw new FailedError(`${many(taken.unfit, 'item')} could not be imported`)
}

async function planned({ out, signal }: Context, source: Source, overrides: Overrides): Promise<Plan> {
  const progress = out.progress()
  try {
    return await planOf(source, overrides, (read) => {
      if (signal.aborted) throw signal.reason
      progress.show(() => `reading: ${many(read, 'item')}`)
    })
  } finally {
    progress.end()
  }
}

async function take(context: Context, source: Source, from: string, plan: Plan, overrides: Overrides): Promise<Taken> {
  const { out, signal } = context
  const engine = await context.connect({ create: true })
  const progress = out.progress()
  const begun = now()
  try {
    return await takeAll({
      ...{ engine, source, name: from, overrides, signal },
      onProgress: ({ jobs, existing }) =>
        progress.show(() => {
          const perSecond = Math.round((jobs + existing) / Math.max(0.001, (now() - begun) / 1_000))
          return `${countText(jobs + existing)} of ${many(plan.jobs, 'job')}, ${countText(perSecond)}/s`
        }),
    })
  } catch (error) {
    const { taken } = error as { readonly taken?: Taken }
    if (taken !== undefined && !out.json) out.note(`${takenText(taken)} before it ended: the same command imports the rest`)
    throw error
  } finally {
    progress.end()
  }
}

function takenText(taken: Taken): string {
  const { existing } = taken
  return `${amountText(taken)} imported${existing === 0 ? '' : `, ${countText(existing)} already there`}`
}
