/** The orders of a list, and the states that they need. */
import { isFinal, SCHEDULED, type StateCode } from '../lifecycle.ts'

export const LIST_ORDERS = ['newest', 'oldest', 'finished', 'due'] as const

export type ListOrder = (typeof LIST_ORDERS)[number]

/** An order by a time that jobs have only in some states. */
export type TimeOrder = Exclude<ListOrder, 'newest' | 'oldest'>

/** Returns the states that an order needs, in words, if it is asked for another one; else undefined. */
export function orderConflict(order: TimeOrder | undefined, state: StateCode | undefined): string | undefined {
  if (order === 'finished' && (state === undefined || !isFinal(state))) return "a state of 'completed', 'failed' or 'cancelled'"
  return order === 'due' && state !== SCHEDULED ? "the state 'scheduled'" : undefined
}

/** Returns an order by time; undefined for one by arrival. */
export function timeOrderOf(order: ListOrder): TimeOrder | undefined {
  return order === 'newest' || order === 'oldest' ? undefined : order
}
