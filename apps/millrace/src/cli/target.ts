/** The engine that a command talks to: one that listens at a URL, or that of a file or a schema, no matter which process has it open. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  AuthFailedError,
  DEFAULT_SCHEMA,
  type EngineOptions,
  isErrorOf,
  LIMITS,
  type Logger,
  schemaName,
  validatePostgresOptions,
} from '@millrace/core'
import type { Engine } from '@millrace/engine'
import type { OwnerRegistry } from '@millrace/postgres'
import { NoFileError, NotFoundError, UsageError } from './errors.ts'

export type Target =
  | { readonly kind: 'url'; readonly url: string; readonly token: string | undefined }
  /** An absolute path. */
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'postgres'; readonly postgres: string; readonly schema: string }

export interface TargetOptions {
  readonly file?: string
  readonly url?: string
  readonly token?: string
  readonly postgres?: string
  readonly schema?: string
}

export interface ConnectOptions {
  /** Creates the file if there is none yet: for commands that put something into it. */
  readonly create?: boolean
  /** True for a command that only looks, perhaps for days: as the owner of a file or a schema it deletes no old jobs. */
  readonly looks?: boolean
  /** False for a command that only attaches to the owner of a schema of Postgres. Default `create`. */
  readonly owns?: boolean
  /** Called with the path of the file that was created. */
  readonly created?: (file: string) => void
  /** Receives the log messages of the engine. */
  readonly logger?: Logger
}

/** Variables that select the engine of a command. Most of them are also settings of a daemon, and must not configure a worker. */
export const TARGET_VARIABLES: ReadonlySet<string> = new Set([
  'MILLRACE_URL',
  'MILLRACE_TOKEN',
  'MILLRACE_FILE',
  'MILLRACE_POSTGRES',
  'MILLRACE_SCHEMA',
])

/** The application says how long its jobs are kept. */
const KEEP_ALL = {
  completed: 'forever',
  failed: 'forever',
  cancelled: 'forever',
  journal: { age: LIMITS.durationMs, bytes: 2 ** 40 },
} as const

const DEFAULT_FILE = 'millrace.db'
/** The time to wait for an engine that does not answer: it may be starting. */
const PATIENCE = '5s'

/** Returns the target. A flag takes precedence over the environment, and MILLRACE_URL over MILLRACE_POSTGRES over MILLRACE_FILE. */
export function targetOf({ file, url, token, postgres, schema }: TargetOptions, env: NodeJS.ProcessEnv): Target {
  const flags = [file, url, postgres].filter((flag) => flag !== undefined)
  if (flags.length > 1) throw new UsageError('--file, --url and --postgres exclude each other: give one of them')
  const at = url ?? (flags.length === 0 ? given(env['MILLRACE_URL']) : undefined)
  if (at !== undefined) return { kind: 'url', url: at, token: token ?? given(env['MILLRACE_TOKEN']) }
  if (token !== undefined)
    throw new UsageError('--token requires --url: a file is protected by its permissions, a schema by those of Postgres')
  const server = postgres ?? (flags.length === 0 ? given(env['MILLRACE_POSTGRES']) : undefined)
  if (server !== undefined) return { kind: 'postgres', postgres: server, schema: schema ?? given(env['MILLRACE_SCHEMA']) ?? DEFAULT_SCHEMA }
  if (schema !== undefined) throw new UsageError('--schema requires --postgres: a file has no schema')
  const path = file ?? given(env['MILLRACE_FILE']) ?? DEFAULT_FILE
  if (path === ':memory:' || path === '')
    throw new UsageError(`--file must name a file on disk, got ${JSON.stringify(path)}: no other process could see that database`)
  return { kind: 'file', file: resolve(path) }
}

/** Opens the engine of a target. A missing file is created only with `create`. */
export async function openTarget(
  target: Target,
  { create = false, looks = false, owns = create, created, logger }: ConnectOptions = {},
): Promise<Engine> {
  // A command cannot know the daemon's configuration, so it warns of nothing on stderr, which may be read as JSON.
  const log = { logger: logger ?? null }
  const own = looks ? { ...log, retention: KEEP_ALL } : log
  if (target.kind === 'url') return connectTo(target, log)
  if (target.kind === 'postgres') return openSchema(target, { create, owns }, own).catch(noServer)
  const missing = !existsSync(target.file)
  await assertQueue(target.file, { create })
  const { openEngine } = await import('@millrace/engine')
  const engine = await openEngine({ file: target.file, share: true, ...own })
  if (missing) created?.(target.file)
  return engine
}

/** Checks a file before a command opens it, so that each command rejects a wrong file alike. @throws NoFileError, the errors of `isQueue` */
export async function assertQueue(file: string, { create = false }: Pick<ConnectOptions, 'create'> = {}): Promise<void> {
  const exists = existsSync(file)
  const isFilled = exists && (await import('@millrace/sqlite')).isQueue(file)
  if (!isFilled && !create) throw new NoFileError(file, exists)
}

async function openSchema(
  target: Target & { readonly kind: 'postgres' },
  { create, owns }: Required<Pick<ConnectOptions, 'create' | 'owns'>>,
  own: EngineOptions,
): Promise<Engine> {
  if (!create) await assertSchema(target)
  const { openEngine } = await import('@millrace/engine')
  // Other processes of an older version may use the schema.
  return openEngine({ postgres: target.postgres, schema: target.schema, role: owns ? 'any' : 'client', autoMigrate: false, ...own })
}

/** Returns the owner registry of a schema that nobody owns now; undefined if somebody does, or if the target is none. */
export async function unowned(target: Target): Promise<(OwnerRegistry & { readonly url: string; readonly schema: string }) | undefined> {
  if (target.kind !== 'postgres') return undefined
  const { ownerRegistryOf } = await import('@millrace/postgres')
  const { postgres: url, schema } = validatePostgresOptions({ postgres: target.postgres, schema: target.schema })
  const owners = ownerRegistryOf({ url, schema })
  const { free } = await owners.find().catch(noServer)
  return free ? { ...owners, url, schema } : undefined
}

/**
 * Returns true if no process has the file open. A command that looks opens it for a moment, which makes it no owner: nothing of its queues
 * runs, before or after.
 */
export async function isIdle(target: Target): Promise<boolean> {
  if (target.kind !== 'file') return false
  await assertQueue(target.file)
  const { probeOwner } = await import('@millrace/sqlite')
  return probeOwner(target.file) === undefined
}

/** Returns the statistics without their owner if that is the command itself, which has opened an idle file. */
export function withoutLooker<T extends { readonly owner?: unknown }>(stats: T, idle: boolean): T {
  return idle ? { ...stats, owner: undefined } : stats
}

/** Reports a server that a command cannot reach by the code of every engine that cannot be reached. */
export async function noServer(error: unknown): Promise<never> {
  if (!isErrorOf(error, 'StorageError')) throw error
  const { ConnectFailedError } = await import('@millrace/remote')
  throw new ConnectFailedError(error.message, { cause: error })
}

async function connectTo({ url, token }: Target & { readonly kind: 'url' }, log: Pick<EngineOptions, 'logger'>): Promise<Engine> {
  const { connect } = await import('@millrace/remote')
  const socket = /^https?:/i.test(url) ? await (await import('./overHttp.ts')).socketBehind(url) : url
  try {
    return await connect(socket, { connectTimeout: PATIENCE, ...(token !== undefined && { token }), ...log })
  } catch (error) {
    if (token !== undefined || !isErrorOf(error, 'AuthFailedError')) throw error
    const message = `the engine at ${url} requires a token: set MILLRACE_TOKEN. The first run of millrace serve saves one beside its file (millrace.db-token)`
    throw new AuthFailedError(message, { cause: error })
  }
}

/** Only commands that put something into a queue create its tables. */
export async function assertSchema(target: Target & { readonly kind: 'postgres' }): Promise<void> {
  const { inspectSchema } = await import('@millrace/postgres')
  const { postgres: url, schema } = validatePostgresOptions({ postgres: target.postgres, schema: target.schema })
  if (inspectSchema({ url, schema }).schemaVersion === 0)
    throw new NotFoundError(`there is no ${targetName(target)}: millrace migrate creates it, and so does the first job (millrace enqueue)`)
}

/** Returns the name of the target in messages and answers. It has no password. */
export function targetName(target: Target): string {
  if (target.kind === 'url') return target.url
  if (target.kind === 'file') return target.file
  return schemaName(target.postgres, target.schema)
}

/** Returns the flags by which another command finds the same engine, with what `secretsOf` returns. */
export function argumentsOf(target: Target): readonly string[] {
  if (target.kind === 'url') return ['--url', target.url]
  return target.kind === 'file' ? ['--file', target.file] : ['--schema', target.schema]
}

/** Returns the variables that are no arguments, because everybody can list arguments. */
export function secretsOf(target: Target): Readonly<Record<string, string>> {
  if (target.kind === 'url') return target.token === undefined ? {} : { MILLRACE_TOKEN: target.token }
  return target.kind === 'file' ? {} : { MILLRACE_POSTGRES: target.postgres, MILLRACE_URL: '' }
}

/** Returns the file of a command that reads or writes it by itself. `why` says what it does. */
export function fileOf(target: Target, why: string): string {
  if (target.kind === 'file') return target.file
  throw new UsageError(why)
}

/** Returns the file beside which its daemon keeps tokens and endpoints. */
export function beside(target: Target): string {
  return fileOf(
    target,
    "tokens and endpoints are beside the daemon's file: give --file, on its machine; over HTTP, use /v1/tokens and /v1/webhooks",
  )
}

function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
