/** Who is told that an endpoint was disabled: what is stored already stays so, whatever comes of it. */
import type { Logger } from '@millrace/core'
import type { DisabledReason, Endpoint } from './endpoint.ts'

/** Told once an endpoint is stored as disabled; nothing waits for it, so it may `remove`, `enable` and `stop`. */
export type OnDisabled = (endpoint: Endpoint, reason: DisabledReason) => unknown

/** Never rejects. A pass does not wait for it: who is told may wait for that very pass to end. */
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
    logger?.error('onDisabled has failed', { id, error: error instanceof Error ? error.message : String(error) })
  }
}
