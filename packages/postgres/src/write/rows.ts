/**
 * Jobs as rows that a statement selects, in the form that the server reads fastest: what they share is told once, and texts are joined. An
 * array for each column slows plain jobs by a tenth, and jobs with a policy by a quarter (ADR 71).
 */
import type { Job } from '@millrace/core/kernel'
import type { SqlValue } from '@millrace/sql'
import type { Value } from '../bridge/statement.ts'
import type { JobColumn } from '../tables/job.ts'

export interface Rows {
  /** The names of the columns. */
  readonly names: string
  /** Selects the rows. Its parameters are `values`. */
  readonly select: string
  readonly values: readonly Value[]
}

/** Columns that differ from job to job. */
const OWN: ReadonlySet<string> = new Set(['seq', 'data'])
/** Columns that tend to differ together; all others are one more. They are few, since the server prepares a statement for each choice of them. */
const TOGETHER: readonly (readonly string[])[] = [
  ['lane'],
  ['state', 'run', 'session', 'started_at'],
  ['node', 'enqueued_at', 'run_at'],
  ['rank', 'weight'],
  ['policy'],
  ['extras', 'expires_at', 'gate'],
  ['data_bytes'],
]

/** @param all the columns to write, `seq` among them */
export function rowsOf([first, ...others]: readonly [Job, ...Job[]], all: readonly JobColumn[]): Rows {
  const each = all.filter(({ name }) => OWN.has(name))
  const once: JobColumn[] = []
  const shared = all.filter((column) => !each.includes(column))
  const isEqual = ({ get }: JobColumn): boolean => {
    const value = get(first)
    return others.every((job) => get(job) === value)
  }
  for (const group of Map.groupBy(shared, ({ name }) => TOGETHER.findIndex((names) => names.includes(name))).values())
    (group.every(isEqual) ? once : each).push(...group)
  const names = each.map(({ name }) => name).join(', ')
  const lists = each.map(({ type, get }, place) => listOf(type, [first, ...others].map(get), place + 1))
  const scalars = once.map(({ name, type }, place) => `$${each.length + place + 1}::${type} AS ${name}`)
  return {
    names: [names, ...once.map(({ name }) => name)].join(', '),
    select: `SELECT ${[names, ...scalars].join(', ')} FROM unnest(${lists.map(({ array }) => array).join(', ')}) AS each (${names})`,
    values: [...lists.map(({ value }) => value), ...once.map(({ get }) => get(first))],
  }
}

/** JSON has none of these characters. */
const SEPARATOR = '\x1f'
const NULL_TEXT = '\x1e'
const SPLIT = 'chr(31), chr(30)'

/** Returns a column as a parameter, and as the array that the server makes of that. An array's texts have a quote before each of their quotes. */
function listOf(type: JobColumn['type'], values: readonly SqlValue[], place: number): { readonly value: Value; readonly array: string } {
  const joined = type === 'text' ? joinedOf(values as readonly (string | null)[]) : undefined
  return joined === undefined
    ? { value: values, array: `$${place}::${type}[]` }
    : { value: joined, array: `string_to_array($${place}::text, ${SPLIT})` }
}

/** Returns undefined if the server would not make the same texts of it. */
function joinedOf(texts: readonly (string | null)[]): string | undefined {
  for (const text of texts) if (text !== null && (text.includes(SEPARATOR) || text === NULL_TEXT)) return undefined
  const joined = texts.map((text) => text ?? NULL_TEXT).join(SEPARATOR)
  return joined === '' ? undefined : joined
}
