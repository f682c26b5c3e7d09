/**
 * Asks a running engine for names that a command line may have. It never opens a file itself: a file that no process has open would be
 * recovered, and be owned by a command that is over at once. Whoever types waits for the answer, so there is little time.
 */
import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { durationOption, LIMITS } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import { visible } from '../../visible.ts'
import { within } from '../clock.ts'
import { controlOf } from '../control.ts'
import type { Target } from '../target.ts'
import { liveRecords, recordFolder } from '../worker/records.ts'
import type { Named } from './kinds.ts'
import type { Slot } from './words.ts'

/** The time for an engine to be found and to answer, unless MILLRACE_COMPLETION_TIMEOUT says another: 1 ms to 1 m. */
const PATIENCE_MS = 300
const PATIENCE = { min: 1, max: 60_000 }
/** The number of names that a shell is shown. */
const NAMES_MAX = 200

/** Returns the words that the last one may become, as far as they are known in time. */
export async function namesFor({ kind, before, typed }: Slot, target: () => Target, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const patienceMs = durationOption('MILLRACE_COMPLETION_TIMEOUT', env['MILLRACE_COMPLETION_TIMEOUT'] || PATIENCE_MS, PATIENCE)
  const found: string[] = []
  if (typeof kind !== 'string') found.push(...kind)
  else if (kind === 'process') found.push(...liveRecords(recordFolder(env)).map(({ id }) => id))
  else if (kind === 'token' || kind === 'endpoint') found.push(...(await controlled(kind, target)))
  else await collect({ kind, typed, target: target(), found, patienceMs })
  const fitting = [...new Set(found)].filter((name) => name.startsWith(typed) && isTypable(name))
  return fitting
    .toSorted()
    .slice(0, NAMES_MAX)
    .map((name) => `${before}${name}`)
}

/** False for a name that a shell would take for a flag, or that a terminal would obey. */
function isTypable(name: string): boolean {
  return name !== '' && !name.startsWith('-') && visible(name) === name
}

/** Returns names in the control database beside the file of a daemon. If there is none, it is not created. */
async function controlled(kind: 'token' | 'endpoint', target: () => Target): Promise<readonly string[]> {
  using control = await controlOf({ target })
  if (kind === 'endpoint') return (await control.endpoints.list()).map(({ id }) => id)
  return control.listTokens().flatMap(({ name, revokedAt }) => (revokedAt === undefined ? [name] : []))
}

/** Kinds of names that the engine is asked for. */
type Asked = Exclude<Named, 'process' | 'token' | 'endpoint'>

interface Question {
  readonly kind: Asked
  readonly typed: string
  readonly target: Target
  /** Gets the names as they arrive. */
  readonly found: string[]
  readonly patienceMs: number
}

type Ask = (engine: Engine, typed: string) => Promise<readonly { readonly name: string }[] | readonly { readonly id: string }[]>

/** The calls whose answers have the names of a kind. One that comes too late takes nothing from the others. */
const CALLS: Readonly<Record<Asked, readonly Ask[]>> = {
  queue: [(engine) => engine.queues.list()],
  job: [
    async (engine) => {
      const { names, definitions, unserved } = await engine.stats({ names: 'percentiles' })
      return [...names, ...definitions, ...unserved]
    },
    async (engine) => (await engine.list({ limit: LIMITS.pageJobs, payload: 'none' })).jobs.map(({ name }) => ({ name })),
  ],
  worker: [(engine) => engine.workers()],
  error: [async (engine) => (await engine.failures()).map(({ error }) => ({ name: error }))],
  schedule: [
    async (engine, typed) => (await engine.schedules.list({ limit: NAMES_MAX, ...(typed !== '' && { prefix: typed }) })).schedules,
  ],
}

/** Asks the engine, and resolves when all is answered or the time is over. The connection ends with the process. */
async function collect({ kind, typed, target, found, patienceMs }: Question): Promise<void> {
  // Loaded before the time begins.
  const { connect } = await import('@millrace/remote')
  const late = within(patienceMs)
  const over = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve(), { once: true }))
  const token = target.kind === 'url' ? target.token : undefined
  const ask = async () => {
    const url = await urlOf(target)
    if (url === undefined) return
    const engine = await connect(url, { connectTimeout: Math.max(patienceMs, 100), logger: null, ...(token !== undefined && { token }) })
    const answers = CALLS[kind].map(async (call) => {
      for (const each of await call(engine, typed)) found.push('name' in each ? each.name : each.id)
    })
    await Promise.allSettled(answers)
  }
  await Promise.race([ask().catch(() => {}), over])
}

/** Returns the address of the engine of a target. On Postgres there is none: it takes longer to find its owner. */
async function urlOf(target: Target): Promise<string | undefined> {
  if (target.kind === 'postgres') return undefined
  if (target.kind === 'file') return ownerOf(target.file)
  return /^https?:/i.test(target.url) ? (await import('../overHttp.ts')).socketBehind(target.url) : target.url
}

/** Returns where the owner of a shared file listens, by its note in a folder that only this user can write. */
function ownerOf(file: string): string | undefined {
  const folder = `${realpathSync(file)}-share`
  const { uid, mode } = lstatSync(folder)
  if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o077) !== 0)) return undefined
  const { url } = JSON.parse(readFileSync(`${folder}/owner.json`, 'utf8')) as { readonly url?: unknown }
  return typeof url === 'string' ? url : undefined
}
