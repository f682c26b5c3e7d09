/** Packs the results of durable calls that a run asks for: each would be an object with eight names. */
import { type RunError, STEP_KINDS, type StepKind, type StepResult } from '@millrace/core'
import type { NumberColumn, NumberReader } from './columns.ts'

export function packResults(results: readonly StepResult[], column: NumberColumn, values: unknown[]): void {
  column.push(results.length)
  for (const { number, asked, name, kind, run, startedAt, endedAt, value, error } of results) {
    column.push(number)
    column.push(asked)
    column.push(STEP_KINDS.indexOf(kind))
    column.push(run)
    column.push(startedAt)
    column.push(endedAt)
    values.push(name, value, error)
  }
}

export function unpackResults(reader: NumberReader, take: () => unknown): StepResult[] {
  const results: StepResult[] = []
  for (let left = reader.take(); left > 0; left--) {
    const [number, asked, kind] = [reader.take(), reader.take(), STEP_KINDS[reader.take()] as StepKind]
    const [run, startedAt, endedAt] = [reader.take(), reader.take(), reader.take()]
    const [name, value, error] = [take() as string, take() as StepResult['value'], take() as RunError | undefined]
    const result: Required<Omit<StepResult, 'error'>> = { number, asked, name, kind, run, startedAt, endedAt, value }
    results.push(error === undefined ? result : { ...result, error })
  }
  return results
}
