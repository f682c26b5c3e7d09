/** The lists of a MemoryStore. */
import { contains } from '../kernel/jobs/contains.ts'
import { matchesFilter } from '../kernel/jobs/matchesFilter.ts'
import type { JobRow } from '../kernel/records/rows.ts'
import type { ListQuery, ListRows } from '../kernel/state/lists.ts'
import { utf8Bytes, utf8Start } from '../options/utf8.ts'
import type { MemoryStore } from './memoryStore.ts'

export function listOf(store: MemoryStore, query: ListQuery): ListRows {
  const { filter, limit, search, payloadBytes, lastRun, order } = query
  const meant = [...store.rows.values()].filter(
    (row) =>
      matchesFilter(filter, row, laneOf(store, row), store.lastRunOf(row)) &&
      (search === undefined || contains(search, row, laneOf(store, row).name)),
  )
  const ordered = inOrder(store, meant, query)
  const rows = ordered.slice(0, limit).map(({ row }) => row)
  const shown = lastRun === true ? store.withLastRuns(rows) : rows
  return {
    rows: shown.map((row) => (payloadBytes === undefined ? row : cutRow(row, payloadBytes))),
    next: rows.length < limit ? null : (rows.at(-1)?.seq ?? null),
    ...(order !== undefined && rows.length === limit && { nextAt: ordered[limit - 1]?.at ?? 0 }),
  }
}

interface Placed {
  readonly row: JobRow
  readonly at: number
}

/** Returns the rows behind a place, in their order. */
function inOrder(store: MemoryStore, rows: readonly JobRow[], { order, ascending = false, before, beforeAt }: ListQuery): Placed[] {
  const isBack = order !== 'due' && !ascending
  const compare = (one: Placed, other: Placed): number => (one.at - other.at || one.row.seq - other.row.seq) * (isBack ? -1 : 1)
  const placed = rows.map((row) => ({ row, at: order === undefined ? 0 : order === 'finished' ? store.endOf(row) : row.runAt }))
  const from = before === undefined ? undefined : { row: { seq: before } as JobRow, at: beforeAt ?? 0 }
  return placed.filter((each) => from === undefined || compare(from, each) < 0).toSorted(compare)
}

function laneOf(store: MemoryStore, { laneId }: JobRow): { readonly queue: string; readonly name: string } {
  return store.lanes.get(laneId) ?? { queue: '', name: '' }
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
