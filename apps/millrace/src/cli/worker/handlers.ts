/** Handlers of a module that the user has written: whatever it exports that is one, alone or in an array. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Handler } from '@millrace/worker'
import { UsageError } from '../errors.ts'

const KINDS: ReadonlySet<unknown> = new Set(['inline', 'batch', 'thread'])

export async function loadHandlers(path: string): Promise<readonly Handler[]> {
  const exported = await load(path)
  const handlers = [...new Set(Object.values(exported).flat(1))].filter(isHandler)
  if (handlers.length > 0) return handlers
  throw new UsageError(
    `--handlers ${path} exports no handler: export what defineJob({ name }).handler(...) or .thread(...) answers, or an array of them`,
  )
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(resolve(path)).href)
  } catch (cause) {
    throw new UsageError(`--handlers ${path} cannot be loaded: ${(cause as Error).message}`, { cause })
  }
}

function isHandler(value: unknown): value is Handler {
  if (typeof value !== 'object' || value === null) return false
  const { kind, definition } = value as { readonly kind?: unknown; readonly definition?: { readonly name?: unknown } }
  return KINDS.has(kind) && typeof definition?.name === 'string'
}
