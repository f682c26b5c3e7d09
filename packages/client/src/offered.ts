/** Refuses calls that a kind of connection does not offer, or a codec makes meaningless. */
import { type Capability, type ListFilter, OptionTypeError, type Port, UnsupportedError } from '@millrace/core'

/** @throws UnsupportedError */
export function assertOffered({ capabilities }: Pick<Port, 'capabilities'>, capability: Capability): void {
  if (!capabilities.has(capability)) throw new UnsupportedError(`this kind of connection does not offer '${capability}'`)
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
