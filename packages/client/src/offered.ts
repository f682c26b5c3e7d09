/** Refuses calls that a kind of connection does not offer. */
import { type Capability, type Port, UnsupportedError } from '@millrace/core'

/** @throws UnsupportedError */
export function assertOffered({ capabilities }: Pick<Port, 'capabilities'>, capability: Capability): void {
  if (!capabilities.has(capability)) throw new UnsupportedError(`this kind of connection does not offer '${capability}'`)
}
