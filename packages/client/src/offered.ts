/** Refuses calls that a kind of connection, or an engine of an earlier version, does not offer. */
import {
  ASCENDING_SINCE,
  type Capability,
  type ListFilter,
  type ListOrder,
  OptionTypeError,
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

/**
 * Refuses to look into data that a codec encodes: no job would match.
 *
 * @throws OptionTypeError
 */
export function assertReadable({ data }: ListFilter, codec: object | undefined): void {
  if (data === undefined || codec === undefined) return
  const message = 'data cannot be matched, because the codec of this engine encodes it: filter by tag, key or meta instead'
  throw new OptionTypeError('data', message)
}

/** @throws UnsupportedError if the engine has passed over the order `'oldest'` */
export function assertOrdered(order: ListOrder, { known = 0 }: Understood): void {
  if (order === 'oldest' && known < ASCENDING_SINCE) throw tooOld("the order 'oldest'")
}

export function tooOld(what: string): UnsupportedError {
  return new UnsupportedError(`the engine is of an earlier version, which does not know ${what}: bring it up to date`)
}
