/**
 * Packs a turn's events into one journal row. An event is one byte of type and flags, then the fields that differ from the event
 * before it: most events take three or four bytes. Numbers are varints (seven bits a byte, low first); those that may be negative
 * are folded (0, -1, 1, -2, ...). The row begins with the format's version and the file's node at the time: a restored copy has
 * another node.
 */
import { isEnd, JOB_EVENT_TYPES, type JobEnd, type JobEventType, type JournalEvent } from '@millrace/core'
import type { EventNote, SystemEventNote } from '@millrace/core/kernel'
import { ByteReader, ByteWriter } from './bytes.ts'
import { type PackedSystemEvent, readSystemEvent, systemEventOf, writeSystemEvent } from './systemEvents.ts'

const FORMAT = 1
/** The approximate size of a journal row without its packed events. */
export const JOURNAL_ROW_BYTES = 24
const TYPE_BITS = 0x1f
/** Stands in place of a job's event type: the event belongs to no job, and shares no field with the event before. */
const SYSTEM_EVENT = 0x1f
/** The lane follows; otherwise it is that of the event before. */
const LANE = 0x20
/** The run follows; otherwise it is that of the event before. */
const RUN = 0x40
/** A second byte of flags follows. */
const MORE = 0x80

const NODE = 0x01
/** The number of hand-outs that cost no attempt follows (run − attempt); otherwise there are none. */
const UNCOUNTED = 0x02
const ERROR = 0x04
/** A time follows, as the distance from the turn's time. */
const TIME = 0x08
const FRACTION = 0x10

const CODES: ReadonlyMap<string, number> = new Map(JOB_EVENT_TYPES.map((type, code) => [type, code]))
/** The only type whose value is not a time. */
const PROGRESS = CODES.get('progress')

export interface JournalRow {
  readonly firstEvent: number
  readonly at: number
  readonly count: number
  readonly packed: Uint8Array
}

export interface LaneName {
  readonly queue: string
  readonly name: string
}

const writer = new ByteWriter(64 * 1024)

/** Packs a turn's events. The bytes are valid until the next call. `node` is the file's own. */
export function encodeEvents(events: readonly (EventNote | SystemEventNote)[], at: number, node: number): Uint8Array {
  writer.clear()
  writer.byte(FORMAT)
  writer.unsigned(node)
  let seq = 0
  let lane = 0
  let run = 0
  let age = 0
  for (const note of events) {
    if (note.job === undefined) {
      writer.byte(SYSTEM_EVENT)
      writeSystemEvent(writer, note.body, at)
      continue
    }
    const { type, job, run: eventRun, attempt, error, value } = note
    const code = CODES.get(type) as number
    const laneId = job.lane.id
    const eventAge = at - job.enqueuedAt
    let more = 0
    if (job.node !== node) more |= NODE
    if (attempt !== eventRun) more |= UNCOUNTED
    if (error !== undefined) more |= ERROR
    if (value !== undefined) more |= code === PROGRESS ? FRACTION : TIME
    writer.byte(code | (laneId === lane ? 0 : LANE) | (eventRun === run ? 0 : RUN) | (more === 0 ? 0 : MORE))
    if (more !== 0) writer.byte(more)
    writer.signed(job.seq - seq)
    writer.signed(eventAge - age)
    if (laneId !== lane) writer.unsigned(laneId)
    if (eventRun !== run) writer.unsigned(eventRun)
    if (more & NODE) writer.unsigned(job.node)
    if (more & UNCOUNTED) writer.signed(eventRun - attempt)
    if (error !== undefined) writer.text(error)
    if (more & TIME) writer.signed((value as number) - at)
    if (more & FRACTION) writer.float(value as number)
    seq = job.seq
    lane = laneId
    run = eventRun
    age = eventAge
  }
  return writer.bytes()
}

/** Receives a row's events in their order; `index` is an event's place in the row. */
interface Visitor {
  job(index: number, event: PackedEvent): void
  systemEvent?(index: number, packed: PackedSystemEvent): void
}

/** An event as its bytes store it. One object serves all events of a row, and changes from one to the next. */
interface PackedEvent {
  type: JobEventType
  seq: number
  node: number
  age: number
  lane: number
  run: number
  uncounted: number
  error: string | undefined
  /** The distance from the turn's time. */
  time: number | undefined
  fraction: number | undefined
}

/** Returns the events of a row, in order. `laneOf` returns the names of a lane by its id. */
export function decodeEvents(row: JournalRow, laneOf: (id: number) => LaneName): JournalEvent[] {
  const events: JournalEvent[] = []
  visitEvents(row, {
    job: (index, packed) => events.push(jobEventOf(packed, row.firstEvent + index, row.at, laneOf)),
    systemEvent: (index, packed) => events.push(systemEventOf(packed, row.firstEvent + index, row.at)),
  })
  return events
}

function jobEventOf(packed: PackedEvent, seq: number, at: number, laneOf: (id: number) => LaneName): JournalEvent {
  const { type, seq: jobSeq, node, age, lane, run, uncounted, error, time, fraction } = packed
  return {
    seq,
    type,
    jobSeq,
    node,
    enqueuedAt: at - age,
    ...laneOf(lane),
    at,
    run,
    attempt: run - uncounted,
    ...(error !== undefined && { error }),
    ...(fraction !== undefined && { fraction }),
    ...(time !== undefined && { runAt: at + time }),
  }
}

/** Returns the jobs that ended, in order. Builds no objects for other events. */
export function decodeEnds(row: JournalRow): JobEnd[] {
  const ends: JobEnd[] = []
  visitEvents(row, {
    job: (index, { type, seq, node, age }) => {
      if (isEnd(type)) ends.push({ seq: row.firstEvent + index, jobSeq: seq, node, enqueuedAt: row.at - age, at: row.at })
    },
  })
  return ends
}

/** Applies the starts and ends of runs in a row to the set of running jobs. */
export function replayRuns(row: JournalRow, running: Set<number>): void {
  visitEvents(row, {
    job: (_index, { type, seq }) => {
      if (type === 'started') running.add(seq)
      else if (RUN_ENDS.has(type)) running.delete(seq)
    },
  })
}

const RUN_ENDS: ReadonlySet<JobEventType> = new Set(['retrying', 'completed', 'failed', 'cancelled', 'snoozed', 'released'])

function visitEvents(row: JournalRow, visitor: Visitor): void {
  const reader = new ByteReader(row.packed)
  const format = reader.byte()
  if (format !== FORMAT) throw new Error(`journal row ${row.firstEvent} has the unknown format ${format}`)
  const ownNode = reader.unsigned()
  const event: PackedEvent = {
    type: 'enqueued',
    seq: 0,
    node: ownNode,
    age: 0,
    lane: 0,
    run: 0,
    uncounted: 0,
    error: undefined,
    time: undefined,
    fraction: undefined,
  }
  for (let index = 0; index < row.count; index++) {
    const first = reader.byte()
    if (first === SYSTEM_EVENT) {
      const packed = readSystemEvent(reader, ownNode)
      visitor.systemEvent?.(index, packed)
      continue
    }
    const more = first & MORE ? reader.byte() : 0
    event.seq += reader.signed()
    event.age += reader.signed()
    if (first & LANE) event.lane = reader.unsigned()
    if (first & RUN) event.run = reader.unsigned()
    event.node = more & NODE ? reader.unsigned() : ownNode
    event.uncounted = more & UNCOUNTED ? reader.signed() : 0
    event.error = more & ERROR ? reader.text() : undefined
    event.time = more & TIME ? reader.signed() : undefined
    event.fraction = more & FRACTION ? reader.float() : undefined
    const type = JOB_EVENT_TYPES[first & TYPE_BITS]
    if (type === undefined) throw new Error(`journal row ${row.firstEvent} has an event of the unknown type ${first & TYPE_BITS}`)
    event.type = type
    visitor.job(index, event)
  }
}
