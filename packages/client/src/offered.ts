/** Refuses calls that a kind of connection, or an engine of an earlier version, does not offer. */
import {
  ASCENDING_SINCE,
  type Capability,
  type ListFilter,
  type ListOrder,
  type Port,
  passedOver,
  type Understood,
  UnsupportedError,
} from '@millrace/core'

/** @throws UnsupportedError */
export function assertOffered({ capabilities }: Pick<Port, 'capabilities'>, capability: Capability): void {
  if (!capabilities.has(capability)) throw new UnsupportedError(`this kind of connection does not offer '${capability}'`)
}

/**
 * Refuses an answer of an engine that has passed over a part of the question: its jobs are not those that are meant.
 *
 * @param beyond the part of the question outside its filter that earlier engines pass over
 * @throws UnsupportedError
 */
export function assertUnderstood(filter: ListFilter, answer: Understood, beyond?: string): void {
  const field = passedOver(filter, answer) ?? (answer.known === undefined ? beyond : undefined)
  if (field !== undefined) throw tooOld(`'${field}'`)
}

/** @throws UnsupportedError if the engine has passed over the order `'oldest'` */
export function assertOrdered(order: ListOrder, { known = 0 }: Understood): void {
  if (order === 'oldest' && known < ASCENDING_SINCE) throw tooOld("the order 'oldest'")
}

function tooOld(what: string): UnsupportedError {
  return new UnsupportedError(`the engine is of an earlier version, which does not know ${what}: bring it up to date`)
}
