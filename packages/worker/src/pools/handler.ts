/** A handler that is a module of its own, run by a pool of threads or of child processes. */
import { fileURLToPath } from 'node:url'
import {
  describe,
  OptionTypeError,
  type ProcessOptions,
  type ProcessSettings,
  type ThreadOptions,
  type ThreadSettings,
  UnsupportedRuntimeError,
  validateProcessOptions,
  validateThreadOptions,
} from '@millrace/core'
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

/** A handler that is a module, run by a pool of child processes. */
export interface ProcessHandler<Input = unknown, Output = unknown> {
  readonly kind: 'process'
  readonly definition: HandlerType<Input, Output>
  /** Names the pool: handlers of one module with the same options share it. */
  readonly key: string
  readonly url: string
  readonly settings: ProcessSettings
}

export type ModuleHandler = ThreadHandler | ProcessHandler

/**
 * Returns a handler for a module that exports `handler` (or a default function), and may export `setup` and `teardown`,
 * called once per thread.
 */
export function threadHandler(definition: HandlerType, url: URL | string, value: ThreadOptions | undefined): ThreadHandler {
  const settings = validateThreadOptions(value)
  const href = hrefOf('thread', url)
  return { kind: 'thread', definition, key: JSON.stringify(['thread', href, settings]), url: href, settings }
}

/** Returns a handler for the same kind of module, whose `setup` and `teardown` are called once per process. */
export function processHandler(definition: HandlerType, url: URL | string, value: ProcessOptions | undefined): ProcessHandler {
  const settings = validateProcessOptions(value)
  const href = hrefOf('childProcess', url)
  return { kind: 'process', definition, key: JSON.stringify(['process', href, settings]), url: href, settings }
}

/** Returns how many jobs the pool of a handler runs at a time. */
export function placesOf(handler: ModuleHandler): number {
  return handler.kind === 'thread' ? handler.settings.threads : handler.settings.processes
}

export function isModuleHandler<Other extends { readonly kind: string }>(handler: Other | ModuleHandler): handler is ModuleHandler {
  return handler.kind === 'thread' || handler.kind === 'process'
}

function hrefOf(method: string, url: URL | string): string {
  const href = url instanceof URL ? url.href : url
  if (typeof href !== 'string' || !href.startsWith('file:')) {
    const example = "new URL('./resize.ts', import.meta.url)"
    throw new OptionTypeError('url', `${method} takes the URL of a module, such as ${example}, got ${describe(url)}`)
  }
  fileURLToPath(href)
  if (href.endsWith('.ts')) assertTypeStripping()
  return href
}

function assertTypeStripping(): void {
  if (process.features.typescript !== false && process.features.typescript !== undefined) return
  throw new UnsupportedRuntimeError(
    `a handler module in TypeScript needs Node 22.18 or newer, which strips its types; this is ${process.version}: compile it to JavaScript`,
  )
}
