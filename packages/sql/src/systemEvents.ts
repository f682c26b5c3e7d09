/**
 * Packs an event of a queue, a schedule or a worker: its type, the fields that follow, and the name of its subject. The stored
 * name stays true whatever becomes of the subject, and costs events of jobs nothing.
 */
import {
  type JobKey,
  MISS_REASONS,
  type MissReason,
  SYSTEM_EVENT_TYPES,
  type SystemEvent,
  type SystemEventBody,
  type SystemEventType,
} from '@millrace/core'
import type { ByteReader, ByteWriter } from './bytes.ts'

const NAME = 0x01
const KEY = 0x02
const SESSION = 0x04
const JOB = 0x08
/** The distance from the turn's time. */
const TICK = 0x10
const REASON = 0x20

const CODES: ReadonlyMap<string, number> = new Map(SYSTEM_EVENT_TYPES.map((type, code) => [type, code]))

interface Details {
  readonly name?: string
  readonly key?: string
  readonly session?: string
  readonly job?: JobKey
  readonly tick?: number
  readonly reason?: MissReason
}

export interface PackedSystemEvent {
  readonly type: SystemEventType
  readonly subject: string
  readonly details: Omit<Details, 'job' | 'tick'>
  /** The row number of a job that came with the event. */
  readonly job: number | undefined
  readonly node: number
  readonly tick: number | undefined
}

export function writeSystemEvent(writer: ByteWriter, body: SystemEventBody, at: number): void {
  const { name, key, session, job, tick, reason }: Details & Pick<SystemEventBody, 'type'> = body
  let flags = 0
  if (name !== undefined) flags |= NAME
  if (key !== undefined) flags |= KEY
  if (session !== undefined) flags |= SESSION
  if (job !== undefined) flags |= JOB
  if (tick !== undefined) flags |= TICK
  if (reason !== undefined) flags |= REASON
  writer.unsigned(CODES.get(body.type) as number)
  writer.byte(flags)
  writer.text(subjectOf(body))
  if (name !== undefined) writer.text(name)
  if (key !== undefined) writer.text(key)
  if (session !== undefined) writer.text(session)
  if (job !== undefined) writer.unsigned(job.seq)
  if (tick !== undefined) writer.signed(tick - at)
  if (reason !== undefined) writer.byte(MISS_REASONS.indexOf(reason))
}

/** Reads a packed event. `node` is the file's own when the event was written. */
export function readSystemEvent(reader: ByteReader, node: number): PackedSystemEvent {
  const code = reader.unsigned()
  const flags = reader.byte()
  const subject = reader.text()
  const name = flags & NAME ? reader.text() : undefined
  const key = flags & KEY ? reader.text() : undefined
  const session = flags & SESSION ? reader.text() : undefined
  const job = flags & JOB ? reader.unsigned() : undefined
  const tick = flags & TICK ? reader.signed() : undefined
  const reason = flags & REASON ? MISS_REASONS[reader.byte()] : undefined
  const type = SYSTEM_EVENT_TYPES[code]
  if (type === undefined) throw new Error(`the journal has an event of the unknown kind ${code}`)
  const details = {
    ...(name !== undefined && { name }),
    ...(key !== undefined && { key }),
    ...(session !== undefined && { session }),
    ...(reason !== undefined && { reason }),
  }
  return { type, subject, details, job, node, tick }
}

export function systemEventOf({ type, subject, details, job, node, tick }: PackedSystemEvent, seq: number, at: number): SystemEvent {
  return {
    seq,
    at,
    type,
    ...(subject !== '' && { [subjectField(type)]: subject }),
    ...details,
    ...(job !== undefined && { job: { seq: job, node, enqueuedAt: at } }),
    ...(tick !== undefined && { tick: at + tick }),
  } as SystemEvent
}

function subjectOf(body: SystemEventBody): string {
  if ('queue' in body) return body.queue
  if ('schedule' in body) return body.schedule
  return 'worker' in body ? body.worker : ''
}

/** Returns the part of a type before the dot. */
function subjectField(type: SystemEventType): string {
  return type.slice(0, type.indexOf('.'))
}
