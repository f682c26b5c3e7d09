/** Handlers of the daemon's own worker: what the modules of the configuration export. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Handler } from '@millrace/worker'
import { ConfigError } from '../config/errors.ts'

const KINDS: ReadonlySet<unknown> = new Set<Handler['kind']>(['inline', 'batch', 'thread'])

/** Every handler that a module exports: by itself, in an array, under any name. @throws ConfigError */
export async function loadHandlers(paths: readonly string[], cwd: string): Promise<Handler[]> {
  const handlers: Handler[] = []
  for (const path of paths) {
    let exported: Readonly<Record<string, unknown>>
    try {
      exported = await import(pathToFileURL(resolve(cwd, path)).href)
    } catch (cause) {
      throw new ConfigError([`'worker.handlers': ${path} cannot be loaded: ${(cause as Error).message}`], { cause })
    }
    const found = [...new Set(Object.values(exported).flat())].filter(isHandler)
    if (found.length === 0)
      throw new ConfigError([
        `'worker.handlers': ${path} exports no handler, as definition.handler(function) or definition.thread(url) makes one`,
      ])
    handlers.push(...found)
  }
  return handlers
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'object' && value !== null && KINDS.has((value as Partial<Handler>).kind)
}
