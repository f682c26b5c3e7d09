/** Reports that an endpoint was disabled. The stored state stays, even if the callback fails. */
import { isError, type Logger } from '@millrace/core'
import type { DisabledReason, Endpoint } from './endpoint.ts'

/** Called after an endpoint is stored as disabled. Nothing waits for it, so it may `remove`, `enable` and `stop`. */
export type OnDisabled = (endpoint: Endpoint, reason: DisabledReason) => unknown

/** Logs and reports a disabled endpoint. Never rejects. No pass waits for it, because the callback may wait for that very pass to end. */
export async function tellDisabled(
  endpoint: Endpoint,
  { logger, onDisabled }: { readonly logger: Logger | undefined; readonly onDisabled: OnDisabled | undefined },
): Promise<void> {
  const { id, disabledReason: reason } = endpoint
  if (reason === undefined) return
  logger?.warn('an endpoint of webhooks was disabled', { id, reason })
  try {
    await onDisabled?.({ ...endpoint, enabled: false }, reason)
  } catch (error) {
    logger?.error('onDisabled has failed', { id, error: isError(error) ? error.message : String(error) })
  }
}
