/** Refuses calls that a kind of connection, or an engine of an earlier version, does not offer. */
import { type Capability, type ListFilter, type Port, passedOver, type Understood, UnsupportedError } from '@millrace/core'

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
  if (field !== undefined)
    throw new UnsupportedError(`the engine is of an earlier version, which does not know '${field}': bring it up to date`)
}
