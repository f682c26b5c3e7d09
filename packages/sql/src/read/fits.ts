/** Makes the values that the conditions of a filter compare rows with. */
import type { StateCode } from '@millrace/core'
import { hintOf } from '@millrace/core/kernel'

/** Returns the hint as it stands in the stored extras, in which `meta` is a string. */
export function metaHintOf(meta: string): string {
  const hint = hintOf(meta)
  return hint === '' ? '"meta":' : JSON.stringify(hint).slice(1, -1)
}

/** Returns a number that has the bit of each state. */
export function maskOf(states: readonly StateCode[]): number {
  return states.reduce<number>((mask, state) => mask | (1 << state), 0)
}

/**
 * Returns a field of the stored extras as it stands in their text. It stands nowhere else there: extras are written by
 * `JSON.stringify`, in which a quote within a string is escaped, and no other field has one of these names.
 */
export function fragment(field: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${JSON.stringify(field)}:${JSON.stringify(value)}`
}
