/** Statistics of the jobs of each name, for people. */
import type { NameStats, Percentiles } from '@millrace/engine'
import { countText, durationText } from '../output/amounts.ts'
import type { Column } from '../output/table.ts'

export const NAME_COLUMNS: readonly Column<NameStats<Percentiles>>[] = [
  { title: 'NAME', elastic: true, text: ({ name }) => name },
  { title: 'QUEUE', elastic: true, text: ({ queue }) => queue },
  { title: 'STARTED', text: ({ started }) => countText(started), right: true },
  { title: 'COMPLETED', text: ({ completed }) => countText(completed), right: true },
  { title: 'FAILED', text: ({ failed }) => countText(failed), right: true },
  { title: 'INTERRUPTED', text: ({ interrupted }) => countText(interrupted), right: true },
  { title: 'WAIT P50', text: ({ waitMs }) => durationText(waitMs.p50), right: true },
  { title: 'WAIT P99', text: ({ waitMs }) => durationText(waitMs.p99), right: true },
  { title: 'RUN P50', text: ({ runMs }) => durationText(runMs.p50), right: true },
  { title: 'RUN P99', text: ({ runMs }) => durationText(runMs.p99), right: true },
]
