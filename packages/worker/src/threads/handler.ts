/** A handler that is a module of its own. */
import { fileURLToPath } from 'node:url'
import { OptionTypeError, type ThreadOptions, type ThreadSettings, UnsupportedRuntimeError, validateThreadOptions } from '@millrace/core'
import type { HandlerType } from '../jobType.ts'

/** A handler that is a module, run on a pool of threads. */
export interface ThreadHandler<Input = unknown, Output = unknown> {
  readonly kind: 'thread'
  readonly definition: HandlerType<Input, Output>
  /** Names the pool: handlers of one module with the same options share it. */
  readonly key: string
  readonly url: string
  readonly settings: ThreadSettings
}

/**
 * Returns a handler for a module that exports `handler` (or a default function), and may export `setup` and `teardown`,
 * called once per thread.
 */
export function threadHandler(definition: HandlerType, url: URL | string, value: ThreadOptions | undefined): ThreadHandler {
  const settings = validateThreadOptions(value)
  const href = hrefOf(url)
  if (href.endsWith('.ts')) assertTypeStripping()
  return { kind: 'thread', definition, key: JSON.stringify([href, settings]), url: href, settings }
}

function hrefOf(url: URL | string): string {
  const href = url instanceof URL ? url.href : url
  if (typeof href === 'string' && href.startsWith('file:')) {
    fileURLToPath(href)
    return href
  }
  throw new OptionTypeError('url', `thread takes the URL of a module, such as new URL('./resize.ts', import.meta.url), got ${String(url)}`)
}

function assertTypeStripping(): void {
  if (process.features.typescript !== false && process.features.typescript !== undefined) return
  throw new UnsupportedRuntimeError(
    `a handler module in TypeScript needs Node 22.18 or newer, which strips its types; this is ${process.version}: compile it to JavaScript`,
  )
}
