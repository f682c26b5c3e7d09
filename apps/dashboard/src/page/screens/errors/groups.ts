/** Groups of failures: which are shown, in which order, and which of them is open. */
import type { Failure } from '../../api/answers.ts'

export const ORDERS = ['newest', 'most', 'first'] as const
export type Order = (typeof ORDERS)[number]

export function orderOf(text: string | undefined): Order {
  return ORDERS.find((order) => order === text) ?? 'newest'
}

export interface GroupRow {
  readonly failure: Failure
  /** One error may occur in several queues and names, with one fingerprint. */
  readonly id: string
  readonly isNew: boolean
}

const HOUR_MS = 3_600_000

/** Returns the groups that have each word of a text in their error, message, queue or name. */
export function groupRows(failures: readonly Failure[], text: string, order: Order, now: number): readonly GroupRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return failures
    .filter((failure) => words.every((word) => has(failure, word)))
    .toSorted((a, b) => COMPARE[order](a, b))
    .map((failure) => ({ failure, id: idOf(failure), isNew: now - Date.parse(failure.firstAt) < HOUR_MS }))
}

const COMPARE: Readonly<Record<Order, (a: Failure, b: Failure) => number>> = {
  newest: (a, b) => Date.parse(b.lastAt) - Date.parse(a.lastAt),
  most: (a, b) => b.count - a.count,
  first: (a, b) => Date.parse(b.firstAt) - Date.parse(a.firstAt),
}

function has({ error, message = '', queue, name }: Failure, word: string): boolean {
  const [field, value = ''] = word.split(/:(.*)/)
  if (field === 'queue' && value !== '') return queue.toLowerCase() === value
  if (field === 'name' && value !== '') return name.toLowerCase() === value
  return `${error} ${message} ${queue} / ${name}`.toLowerCase().includes(word)
}

/** The name of a group in the address. */
export function idOf({ fingerprint, queue, name }: Failure): string {
  return `${fingerprint} ${queue} ${name}`
}

/** Returns the group that the address names: by its whole id, or by its fingerprint alone, as links from elsewhere do. */
export function groupOf(rows: readonly GroupRow[], id: string | undefined): GroupRow | undefined {
  return rows.find((row) => row.id === id) ?? rows.find(({ failure }) => failure.fingerprint === id)
}
