/** The lists of a MemoryStore. */
import type { ListFilter } from '../commands.ts'
import type { ListQuery, ListRows } from '../kernel/lists.ts'
import type { JobRow } from '../kernel/rows.ts'
import { utf8Bytes, utf8Start } from '../options/utf8.ts'
import type { MemoryStore } from './memoryStore.ts'

export function listOf(store: MemoryStore, { filter, before, limit, search, payloadBytes, lastRun }: ListQuery): ListRows {
  const meant = [...store.rows.values()].filter(
    (row) =>
      row.seq < (before ?? Number.POSITIVE_INFINITY) && fits(store, filter, row) && (search === undefined || has(store, row, search)),
  )
  const rows = meant.toSorted((a, b) => b.seq - a.seq).slice(0, limit)
  const shown = lastRun === true ? store.withLastRuns(rows) : rows
  return {
    rows: shown.map((row) => (payloadBytes === undefined ? row : cutRow(row, payloadBytes))),
    next: rows.length < limit ? null : (rows.at(-1)?.seq ?? null),
  }
}

function fits(store: MemoryStore, { state, queue, name, tag }: ListFilter, row: JobRow): boolean {
  const lane = store.lanes.get(row.laneId)
  return (
    (state === undefined || row.state === state) &&
    (queue === undefined || lane?.queue === queue) &&
    (name === undefined || lane?.name === name) &&
    (tag === undefined || row.extras?.tags?.includes(tag) === true)
  )
}

function has(store: MemoryStore, { laneId, data, extras }: JobRow, text: string): boolean {
  const { tags = [], idempotencyKey = '', uniqueKey = '', concurrencyKey = '' } = extras ?? {}
  const texts = [store.lanes.get(laneId)?.name ?? '', typeof data === 'string' ? data : '', ...tags]
  return [...texts, idempotencyKey, uniqueKey, concurrencyKey].some((part) => folded(part).includes(folded(text)))
}

/** Lowers the case of ASCII letters, and leaves others as they are. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Returns the row with payloads of at most that many bytes each. */
export function cutRow(row: JobRow, bytesMax: number): JobRow {
  const { data, output, checkpoint } = row
  const bytes = { data: sizeOf(data), output: sizeOf(output), checkpoint: sizeOf(checkpoint) }
  return { ...row, data: cut(data, bytesMax), output: cut(output, bytesMax), checkpoint: cut(checkpoint, bytesMax), bytes }
}

function sizeOf(payload: JobRow['data']): number | null {
  return typeof payload === 'string' ? utf8Bytes(payload) : (payload?.length ?? null)
}

function cut(payload: JobRow['data'], bytesMax: number): JobRow['data'] {
  if (payload === null || bytesMax === 0) return null
  return typeof payload === 'string' ? utf8Start(payload, bytesMax) : payload.slice(0, bytesMax)
}
