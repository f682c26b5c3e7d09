/** Loads handlers from the user's modules: for the daemon's own worker, and for `millrace worker start`. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Handler } from '@millrace/worker'
import { ConfigError } from '../config/errors.ts'

const KINDS: ReadonlySet<unknown> = new Set<Handler['kind']>(['inline', 'batch', 'thread'])

/** Creates the error for a module that cannot be used, in the terms of the caller that names the module. */
type Refusal = (what: string, options?: ErrorOptions) => Error

/** Loads the handlers of the setting `worker.handlers`. @throws ConfigError */
export async function loadHandlers(paths: readonly string[], cwd: string): Promise<Handler[]> {
  const refuse: Refusal = (what, options) => new ConfigError([`'worker.handlers': ${what}`], options)
  const handlers: Handler[] = []
  for (const path of paths) handlers.push(...(await handlersOfModule(path, cwd, refuse)))
  return handlers
}

/** Returns every handler that a module exports, alone or in an array, under any name, once each. @throws the error that `refuse` returns */
export async function handlersOfModule(path: string, cwd: string, refuse: Refusal): Promise<readonly Handler[]> {
  let exported: Readonly<Record<string, unknown>>
  try {
    exported = await import(pathToFileURL(resolve(cwd, path)).href)
  } catch (cause) {
    throw refuse(`${path} cannot be loaded: ${(cause as Error).message}`, { cause })
  }
  const found = [...new Set(Object.values(exported).flat())].filter(isHandler)
  if (found.length > 0) return found
  throw refuse(`${path} exports no handler: export what defineJob({ name }).handler(...) or .thread(...) returns, or an array of them`)
}

function isHandler(value: unknown): value is Handler {
  if (typeof value !== 'object' || value === null) return false
  const { kind, definition } = value as { readonly kind?: unknown; readonly definition?: { readonly name?: unknown } }
  return KINDS.has(kind) && typeof definition?.name === 'string'
}
