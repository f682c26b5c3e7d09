/** Workers, as `engine.work` starts them. */
import { OptionTypeError, type WorkSettings } from '@millrace/core'
import { type Handler, Worker } from '@millrace/worker'
import type { Mailbox } from './mailbox.ts'
import type { Sealer } from './seal.ts'
import type { EngineSetup } from './setup.ts'

const KINDS: ReadonlySet<string> = new Set<Handler['kind']>(['inline', 'batch', 'thread'])

/** @throws OptionTypeError */
export function handlersOf(handlers: readonly Handler[] | Handler): readonly Handler[] {
  const list = Array.isArray(handlers) ? (handlers as readonly Handler[]) : [handlers as Handler]
  if (list.length > 0 && list.every((handler) => KINDS.has(handler?.kind))) return list
  throw new OptionTypeError('handlers', 'work takes handlers, made by definition.handler(function) or definition.thread(url)')
}

export function newWorker(
  { maxDataBytes, clock, host, pid, local, logger, redact }: EngineSetup,
  calls: Pick<Mailbox, 'call'>,
  sealer: Sealer | undefined,
  handlers: readonly Handler[],
  settings: WorkSettings,
  stopped: (worker: Worker) => void,
): Worker {
  const open = sealer && ((grant: Parameters<Sealer['openGrant']>[0]) => sealer.openGrant(grant))
  return new Worker({ calls, handlers, settings, host, pid, local, maxDataBytes, clock, logger, open, redact, stopped })
}
