/**
 * Serves exporters, which take finished jobs out of the queue: complete, in the order in which they ended, from the cursor
 * that the file keeps for each export. If there is none yet, the question waits for the next commit that has one.
 */
import {
  DEFERRED,
  type ExportCommand,
  type ExportPage,
  isEnd,
  isFinal,
  type JobEnd,
  type JobView,
  LIMITS,
  type Refused,
} from '@millrace/core'
import {
  type ConnectionId,
  type EventNote,
  type JobRow,
  noExport,
  type Questions,
  type Sender,
  type SystemEventNote,
  type Tables,
  viewOf,
} from '@millrace/core/kernel'
import { WaitingRoom } from './waitingRoom.ts'

interface Exporter extends Sender {
  readonly command: ExportCommand
  /** The export's cursor when the wait began. */
  readonly cursor: number
}

export class ExportWaiters {
  readonly waiting = new WaitingRoom<Exporter>()
  /** The event up to which each export has nothing after its cursor. */
  readonly #seen = new Map<string, number>()

  ask(store: Questions, tables: Tables, command: ExportCommand, sender: Sender): ExportPage | Refused | typeof DEFERRED {
    const { name, limit } = command
    const cursor = tables.exports.get(name)
    if (cursor === undefined) return noExport(name)
    const last = tables.nextEvent - 1
    const page = readPage(store, tables, Math.max(cursor, this.#seen.get(name) ?? 0), last, limit)
    const empty = page.jobs.length === 0 && page.missed === 0 && page.gap === undefined
    // The cursor must not stay behind: the journal would forget what it points at.
    if (!empty || page.next < last || last - cursor >= LIMITS.eventsPassed) return page
    this.#seen.set(name, last)
    this.waiting.add({ ...sender, command, cursor })
    return DEFERRED
  }

  /** Removes and returns the exporters that the events of a turn, up to `last`, may concern: each asks again. */
  committed(notes: readonly (EventNote | SystemEventNote)[], last: number): readonly Exporter[] {
    if (notes.length === 0) return []
    if (notes.some((note) => note.job !== undefined && isEnd(note.type))) return this.takeAll()
    const late = [...this.waiting].filter(({ cursor }) => last - cursor >= LIMITS.eventsPassed)
    for (const exporter of late) this.waiting.delete(exporter)
    for (const { command } of this.waiting) this.#seen.set(command.name, last)
    return late
  }

  takeAll(): readonly Exporter[] {
    return this.waiting.takeAll()
  }

  /** Removes and returns the waiting exporters after exports were deleted: each asks again, and gets the error. */
  end(names: readonly string[]): readonly Exporter[] {
    for (const name of names) this.#seen.delete(name)
    return this.takeAll()
  }

  forget(connection: ConnectionId, request?: number): void {
    this.waiting.take(connection, request)
  }
}

function readPage(store: Questions, tables: Tables, after: number, last: number, limit: number): ExportPage {
  // One job more than fits: it shows where the next page begins.
  const page = store.ends(after, limit + 1, LIMITS.exportEvents)
  const { rows, missed, next = page.last ?? last } = readEnded(store, page.ends, limit)
  const attempts = store.attempts(rows)
  const jobs = rows.map((row, index): JobView => {
    const lane = tables.laneOf(row.laneId)
    return viewOf(row, lane.queue.name, lane.name, attempts[index] ?? [])
  })
  const first = page.first ?? last + 1
  return { jobs, missed, next, ...(first > after + 1 && { gap: { after, resumesAt: first } }) }
}

interface Ended {
  readonly rows: readonly JobRow[]
  readonly missed: number
  /** Undefined if all have been looked at. */
  readonly next: number | undefined
}

function readEnded(store: Questions, ends: readonly JobEnd[], limit: number): Ended {
  const rows: JobRow[] = []
  let missed = 0
  let bytes = 0
  let read: readonly (JobRow | undefined)[] = []
  let from = 0
  for (const [index, { seq, node, enqueuedAt, at }] of ends.entries()) {
    if (index === from + read.length) {
      from = index
      const wanted = ends.slice(from).map((end) => end.jobSeq)
      read = store.jobsInPlace(wanted, LIMITS.exportBytes - bytes)
    }
    const row = read[index - from]
    if (row === undefined || row.node !== node || row.enqueuedAt !== enqueuedAt) {
      missed++
      continue
    }
    // The job was brought back since: it is exported when it ends again.
    if (!isFinal(row.state) || row.finishedAt !== at) continue
    const size = lengthOf(row.data) + lengthOf(row.output) + lengthOf(row.checkpoint)
    if (rows.length === limit || (rows.length > 0 && bytes + size > LIMITS.exportBytes)) return { rows, missed, next: seq - 1 }
    bytes += size
    rows.push(row)
  }
  return { rows, missed, next: undefined }
}

function lengthOf(data: JobView['data']): number {
  return data?.length ?? 0
}
