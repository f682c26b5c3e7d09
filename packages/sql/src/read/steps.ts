/** Reads the results of durable calls. */
import { type Data, STEP_KINDS, type StepKind, type StepResult } from '@millrace/core'
import type { StepRecord, TurnReads } from '@millrace/core/kernel'
import type { Prepare } from '../query.ts'
import type { SqlValue } from '../value.ts'
import { ERROR_COLUMNS, errorFrom, errorValues, type RawError } from './runError.ts'

type RawStep = [
  number: number,
  asked: number,
  name: string,
  kind: number,
  run: number,
  startedAt: number,
  endedAt: number,
  value: Data,
  bytes: Uint8Array | null,
  ...error: RawError,
]

/** The places of a value and of its bytes. */
const VALUE = 7
const BYTES = 8

/** The columns of `step` behind `seq` and before its value. */
const FACTS = 'number, asked, name, kind, run, started_at, ended_at'

/** The columns of `step` but for its value, in the order of `stepValues`. */
export const STEP_COLUMNS = `seq, ${FACTS}, ${ERROR_COLUMNS}`

export function stepValues({ seq, number, asked, name, kind, run, startedAt, endedAt, error }: StepRecord): SqlValue[] {
  return [seq, number, asked, name, STEP_KINDS.indexOf(kind), run, startedAt, endedAt, ...errorValues(error)]
}

/** The columns of a value, of any type and of bytes alone, and its size in bytes. */
export interface StepValue {
  readonly columns: string
  readonly bytes: string
}

/** Up to so many results are read without a look at their sizes first: most jobs that resume have few. */
const FEW = 4

export function prepareSteps(prepare: Prepare, { columns, bytes }: StepValue): TurnReads['steps'] {
  const sizes = prepare<SizedRow>(`SELECT number, ${bytes} FROM step WHERE seq = ? AND number > ? ORDER BY number LIMIT ?`)
  const page = prepare<RawStep>(
    `SELECT ${FACTS}, ${columns}, ${ERROR_COLUMNS} FROM step WHERE seq = ? AND number > ? AND number <= ? ORDER BY number`,
  )
  const few = prepare<RawStep>(
    `SELECT ${FACTS}, ${columns}, ${ERROR_COLUMNS} FROM step WHERE seq = ? AND number > ? ORDER BY number LIMIT ${FEW + 1}`,
  )
  return (seq, after, limit, most) => {
    if (after === 0 && limit > FEW) {
      const all = few.all(seq, after)
      if (all.length <= FEW && sizeOf(all) <= most) return { results: all.map(stepFrom), complete: true }
    }
    // Sizes are read without their values, of which there may be gigabytes.
    const { last, complete } = cutBySize(sizes.all(seq, after, limit + 1), limit, most)
    return { results: last === undefined ? [] : page.all(seq, after, last).map(stepFrom), complete }
  }
}

/** The number of a row, and the bytes of its value. */
export type SizedRow = [number: number, bytes: number | null]

/** Returns the number of the last row of a page: of at most `limit` rows and about `most` bytes, and one at least if there is one. */
export function cutBySize(
  known: readonly SizedRow[],
  limit: number,
  most: number,
): { readonly last: number | undefined; readonly complete: boolean } {
  let taken = 0
  const end = known.findIndex(([, size], index) => {
    taken += size ?? 0
    return index > 0 && (index === limit || taken > most)
  })
  const [last] = known.at(end < 0 ? -1 : end - 1) ?? []
  return { last, complete: end < 0 }
}

function sizeOf(steps: readonly RawStep[]): number {
  return steps.reduce((sum, step) => sum + ((step[VALUE] ?? step[BYTES])?.length ?? 0), 0)
}

function stepFrom([number, asked, name, kind, run, startedAt, endedAt, value, bytes, ...error]: RawStep): StepResult {
  const failed = error[0] !== '' && { error: errorFrom(error) }
  return { number, asked, name, kind: STEP_KINDS[kind] as StepKind, run, startedAt, endedAt, value: value ?? bytes, ...failed }
}

type RawMark = [number: number, asked: number, name: string]

export function prepareStep(prepare: Prepare): TurnReads['step'] {
  const failed = prepare<RawMark>("SELECT number, asked, name FROM step WHERE seq = ? AND error_name <> '' ORDER BY number LIMIT 1")
  const named = prepare<RawMark>('SELECT number, asked, name FROM step WHERE seq = ? AND name = ?')
  const after = prepare<[name: string]>('SELECT name FROM step WHERE seq = ? AND asked > ? ORDER BY number LIMIT 1')
  return (seq, wanted) => {
    const raw = wanted === undefined ? failed.get(seq) : named.get(seq, wanted)
    if (raw === undefined) return undefined
    const [number, asked, name] = raw
    const [next] = after.get(seq, number) ?? []
    return { number, asked, name, ...(next !== undefined && { next }) }
  }
}
