/** Handlers that modules of the user's export: for the daemon's own worker, and for `millrace worker start`. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Handler } from '@millrace/worker'
import { ConfigError } from '../config/errors.ts'

const KINDS: ReadonlySet<unknown> = new Set<Handler['kind']>(['inline', 'batch', 'thread'])

/** What is wrong with a module, as an error of whoever has named it. */
type Refusal = (what: string, options?: ErrorOptions) => Error

/** Of the setting `worker.handlers`. @throws ConfigError */
export async function loadHandlers(paths: readonly string[], cwd: string): Promise<Handler[]> {
  const refuse: Refusal = (what, options) => new ConfigError([`'worker.handlers': ${what}`], options)
  const handlers: Handler[] = []
  for (const path of paths) handlers.push(...(await handlersOfModule(path, cwd, refuse)))
  return handlers
}

/** Every handler that a module exports: by itself, in an array, under any name; once each. @throws what `refuse` answers */
export async function handlersOfModule(path: string, cwd: string, refuse: Refusal): Promise<readonly Handler[]> {
  let exported: Readonly<Record<string, unknown>>
  try {
    exported = await import(pathToFileURL(resolve(cwd, path)).href)
  } catch (cause) {
    throw refuse(`${path} cannot be loaded: ${(cause as Error).message}`, { cause })
  }
  const found = [...new Set(Object.values(exported).flat())].filter(isHandler)
  if (found.length > 0) return found
  throw refuse(`${path} exports no handler: export what defineJob({ name }).handler(...) or .thread(...) answers, or an array of them`)
}

function isHandler(value: unknown): value is Handler {
  if (typeof value !== 'object' || value === null) return false
  const { kind, definition } = value as { readonly kind?: unknown; readonly definition?: { readonly name?: unknown } }
  return KINDS.has(kind) && typeof definition?.name === 'string'
}
