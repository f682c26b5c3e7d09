/** Formats the recorded results and the open waits of a job for people. */
import type { JobStep, JobSteps, JobWait } from '@millrace/engine'
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
    { title: 'UNTIL', text: ({ until }) => timeText(until) },
    { title: 'ENDS', text: ({ until }) => awayText(until, now) },
  ]
}

export function stepLines({ steps, waits }: JobSteps, out: Output, now: number): Text[] {
  if (waits.length === 0) return out.list('no steps', STEPS, steps)
  return [...(steps.length === 0 ? [] : [...out.table(STEPS, steps), '']), ...out.table(waitColumns(now), waits)]
}

function resultText({ value, error }: JobStep): string {
  const whole = error === undefined ? valueText(value) : `${error.name}: ${error.message}`
  return whole.length > SHOWN ? `${whole.slice(0, SHOWN)}…` : whole
}

function valueText(value: unknown): string {
  return value === undefined ? '-' : JSON.stringify(plain(value))
}
