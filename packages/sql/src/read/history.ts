/** Names the steps of the history as its rows do. */
import type { HistoryStep } from '@millrace/core'

export const MINUTE = 0
export const HOUR = 1

export function codeOf(step: HistoryStep): number {
  return step === 'minute' ? MINUTE : HOUR
}
