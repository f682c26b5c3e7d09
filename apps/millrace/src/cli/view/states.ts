/** Counts by state, for people. */
import type { StateCounts } from '@millrace/core'
import { countText } from '../output/amounts.ts'
import type { Column } from '../output/table.ts'

/** The states in the order of the lifecycle. */
const STATES = ['scheduled', 'waiting', 'active', 'blocked', 'completed', 'failed', 'cancelled'] as const

/** Returns the counts on one line. Scheduled jobs that wait for another attempt stand behind the number of all. */
export function statesText(states: StateCounts, retrying = 0): string {
  const more = (state: string) => (state === 'scheduled' && retrying > 0 ? ` (${countText(retrying)} retrying)` : '')
  return STATES.map((state) => `${countText(states[state])} ${state}${more(state)}`).join(', ')
}

/** Returns one column for each state, for rows that hold the counts. */
export function stateColumns<Row>(countsOf: (row: Row) => StateCounts): readonly Column<Row>[] {
  return STATES.map((state) => ({ title: state.toUpperCase(), text: (row: Row) => countText(countsOf(row)[state]), right: true }))
}
