/** Formats the recorded results and the open waits of a job for people. */
import type { JobMessage, JobStep, JobSteps, JobWait } from '@millrace/engine'
import { awayText, durationText, timeText } from '../output/amounts.ts'
import type { Text } from '../output/line.ts'
import type { Output } from '../output/output.ts'
import { plain } from '../output/plain.ts'
import type { Column } from '../output/table.ts'

/** The characters of a value or an error in a table. */
const SHOWN = 100

const STEPS: readonly Column<JobStep>[] = [
  { title: 'NUMBER', text: ({ number }) => String(number), right: true },
  { title: 'NAME', elastic: true, text: ({ name }) => name },
  { title: 'KIND', text: ({ kind }) => kind },
  { title: 'STARTED', text: ({ startedAt }) => timeText(startedAt) },
  { title: 'TOOK', text: ({ startedAt, endedAt }) => durationText(endedAt.getTime() - startedAt.getTime()), right: true },
  { title: 'VALUE', elastic: true, text: resultText },
]

function waitColumns(now: number): readonly Column<JobWait>[] {
  return [
    { title: 'OPEN WAIT', elastic: true, text: ({ name }) => name },
    { title: 'SINCE', text: ({ since }) => timeText(since) },
    { title: 'MESSAGE', elastic: true, text: ({ message = '-' }) => message },
    { title: 'UNTIL', text: ({ until }) => (until === undefined ? '-' : timeText(until)) },
    { title: 'ENDS', text: ({ until }) => (until === undefined ? '-' : awayText(until, now)) },
  ]
}

const MESSAGES: readonly Column<JobMessage>[] = [
  { title: 'KEPT MESSAGE', elastic: true, text: ({ name }) => name },
  { title: 'CAME', text: ({ at }) => timeText(at) },
  { title: 'FROM', elastic: true, text: ({ by = '-' }) => by },
  { title: 'VALUE', elastic: true, text: resultText },
]

export function stepLines({ steps, waits, messages, kept }: JobSteps, out: Output, now: number): Text[] {
  const left = kept - messages.length
  const tables = [
    ...(steps.length === 0 ? [] : [out.table(STEPS, steps)]),
    ...(waits.length === 0 ? [] : [out.table(waitColumns(now), waits)]),
    ...(messages.length === 0 ? [] : [[...out.table(MESSAGES, messages), ...(left === 0 ? [] : [`and ${left} more`])]]),
  ]
  if (tables.length === 0) return out.list('no steps', STEPS, steps)
  return tables.flatMap((table, index) => (index === 0 ? table : ['', ...table]))
}

function resultText({ value, error }: Pick<JobStep, 'value' | 'error'>): string {
  const whole = error === undefined ? valueText(value) : `${error.name}: ${error.message}`
  return whole.length > SHOWN ? `${whole.slice(0, SHOWN)}…` : whole
}

function valueText(value: unknown): string {
  return value === undefined ? '-' : JSON.stringify(plain(value))
}
