/** The engine that a command talks to: one that listens at a URL, or that of a file, no matter which process has it open. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Logger } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import { NoFileError, UsageError } from './errors.ts'

export type Target =
  | { readonly kind: 'url'; readonly url: string; readonly token: string | undefined }
  /** An absolute path. */
  | { readonly kind: 'file'; readonly file: string }

export interface TargetOptions {
  readonly file?: string
  readonly url?: string
  readonly token?: string
}

export interface ConnectOptions {
  /** Creates the file if there is none yet: for commands that put something into it. */
  readonly create?: boolean
  /** Called with the path of the file that was created. */
  readonly created?: (file: string) => void
  /** Receives the log messages of the engine. */
  readonly logger?: Logger
}

/** Variables that select the engine of a command. Two of them are also settings of a daemon, and must not configure a worker. */
export const TARGET_VARIABLES: ReadonlySet<string> = new Set(['MILLRACE_URL', 'MILLRACE_TOKEN', 'MILLRACE_FILE'])

const DEFAULT_FILE = 'millrace.db'
/** The time to wait for an engine that does not answer: it may be starting. */
const PATIENCE = '5s'

/** Returns the target. A flag takes precedence over the environment, and MILLRACE_URL over MILLRACE_FILE. */
export function targetOf({ file, url, token }: TargetOptions, env: NodeJS.ProcessEnv): Target {
  if (file !== undefined && url !== undefined) throw new UsageError('--file and --url exclude each other: give one of them')
  const at = url ?? (file === undefined ? given(env['MILLRACE_URL']) : undefined)
  if (at !== undefined && /^https?:/i.test(at))
    throw new UsageError(
      `${at} is the HTTP API of an engine: --url takes its socket, as unix:/path/millrace.db-socket or tcp://host:port (millrace serve logs them); on its machine --file does as well`,
    )
  if (at !== undefined) return { kind: 'url', url: at, token: token ?? given(env['MILLRACE_TOKEN']) }
  if (token !== undefined) throw new UsageError('--token requires --url: a file is protected by its permissions')
  const path = file ?? given(env['MILLRACE_FILE']) ?? DEFAULT_FILE
  if (path === ':memory:' || path === '')
    throw new UsageError(`--file must name a file on disk, got ${JSON.stringify(path)}: no other process could see that database`)
  return { kind: 'file', file: resolve(path) }
}

/** Opens the engine of a target. A missing file is created only with `create`. */
export async function openTarget(target: Target, { create = false, created, logger }: ConnectOptions = {}): Promise<Engine> {
  // A command cannot know the daemon's configuration, so it warns of nothing on stderr, which may be read as JSON.
  const log = { logger: logger ?? null }
  if (target.kind === 'url') {
    const { connect } = await import('@millrace/remote')
    return connect(target.url, { connectTimeout: PATIENCE, ...(target.token !== undefined && { token: target.token }), ...log })
  }
  const missing = !existsSync(target.file)
  if (!create && missing) throw new NoFileError(target.file)
  const { openEngine } = await import('@millrace/engine')
  const engine = await openEngine({ file: target.file, share: true, ...log })
  if (missing) created?.(target.file)
  return engine
}

/** Returns the file beside which its daemon keeps tokens and endpoints. */
export function beside(target: Target): string {
  if (target.kind === 'file') return target.file
  throw new UsageError(
    "tokens and endpoints are beside the daemon's file: name that with --file, on its machine; over HTTP there is /v1/webhooks",
  )
}

function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
