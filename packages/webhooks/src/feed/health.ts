/** Decides which endpoints to disable, by how their deliveries end. It reads that from the journal, so that a restart forgets nothing. */
import type { EngineEvent } from '@millrace/client'
import type { DisabledReason, Endpoint } from './endpoint.ts'

/** Failures that say nothing about the endpoint. */
const OURS: ReadonlySet<string> = new Set(['WorkerLostError', 'SecretMissingError', 'SecretRefusedError'])

export type Health = Pick<Endpoint, 'failingSince' | 'disabledReason'>

/** Returns the health of an endpoint after a run of one of its deliveries has ended. */
export function after(health: Health, { type, at, error }: Pick<EngineEvent, 'type' | 'at' | 'error'>, disableAfterMs: number): Health {
  if (type === 'completed') return { failingSince: undefined, disabledReason: undefined }
  if (error !== undefined && OURS.has(error)) return health
  const failingSince = health.failingSince ?? at
  const reason = reasonOf(error, at.getTime() - failingSince.getTime(), disableAfterMs)
  return { failingSince, disabledReason: reason }
}

function reasonOf(error: string | undefined, failingMs: number, disableAfterMs: number): DisabledReason | undefined {
  if (error === 'WebhookGoneError') return 'gone'
  return failingMs >= disableAfterMs ? 'failing' : undefined
}

/** True if an event of a delivery says how a run ended. */
export function isOutcome({ type }: EngineEvent): boolean {
  return type === 'completed' || type === 'retrying' || type === 'failed'
}
