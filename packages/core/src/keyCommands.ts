/** Commands about the job that a key stands for: the engine finds it in the turn that decides the call. */
import type { JobChanges } from './commands.ts'
import type { Cancellation } from './job.ts'
import type { PayloadName } from './options/payload.ts'

export const KEY_KINDS = ['unique', 'idempotency'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** A key that a caller has given to a job of that name. */
export interface HeldKey {
  readonly kind: KeyKind
  readonly name: string
  readonly key: string
}

/** The calls about the job of a key: operations on one job, and `release`, which takes the key from it. */
export const KEYED_CALLS = ['cancel', 'cancelTree', 'retry', 'retryTree', 'update', 'runNow', 'delete', 'release'] as const
export type KeyedCall = (typeof KEYED_CALLS)[number]

/** Does to the job of a key what the operation of that name does to a job by its id. Reply: that of the operation; of `release`, whether there was such a key. */
export interface ByKeyCommand extends Cancellation {
  readonly op: 'byKey'
  readonly of: HeldKey
  readonly call: KeyedCall
  /** Only with `update`. */
  readonly changes?: JobChanges
  /** Only with `retry`. */
  readonly from?: string
}

/** Asks for the job of a key. Reply: `JobView`, or null if no job has it. */
export interface GetByKeyCommand {
  readonly op: 'getByKey'
  readonly of: HeldKey
  /** As of `get`. */
  readonly payloadBytes?: number
  readonly only?: PayloadName
}
