/** A server's deliveries: replies, grants, notices and events, and the last renewal that it had counted. */
import {
  type AbortCause,
  type AttachReply,
  type Delivery,
  type EnginePauseEvent,
  type Enqueued,
  EVENT_TYPES,
  type EventType,
  type Grant,
  type JobEvent,
  type Joined,
  type JournalEvent,
  LIMITS,
  MISS_REASONS,
  type Notice,
  type QueueEvent,
  type Refusal,
  type Reply,
  type ScheduleEvent,
  type WorkerEvent,
} from '@millrace/core'
import { WireError } from '../errors.ts'
import type { Reader } from '../msgpack/reader.ts'
import { JOB_KEY, KEY, NONE, node, priority, RUN, RUN_CAUSES, RUN_KEYS, seq, weight } from './jobs.ts'
import { boolean, choice, count, data, duration, FIELDS_MAX, idTime, type Kind, list, recurring, text, time, told, value } from './kinds.ts'
import { field, optional, or, type RecordKind, record } from './record.ts'
import { STATS } from './stats.ts'
import { union } from './union.ts'

const ITEMS_MAX = 10_000
const ABORT_CAUSES: readonly AbortCause[] = ['timeout', 'cancel', 'stop']

export const ENQUEUED = record<Enqueued>('Enqueued', {
  ...KEY,
  created: field(boolean, 'false where a key matched an earlier job, which this then is'),
})

/** The contents of a reply, by the number behind the request's id. */
export const REPLIES = {
  true: { code: 0, fields: record('true', {}) },
  refusal: {
    code: 1,
    fields: record<Refusal>('refusal', {
      code: field(text(128) as Kind<Refusal['code']>, 'stable, in capitals'),
      message: field(text(2 ** 20), 'for people'),
      details: optional(value as Kind<NonNullable<Refusal['details']>>, 'map of what belongs to the code'),
    }),
  },
  enqueued: {
    code: 2,
    fields: record<{ jobs: readonly Enqueued[] }>('enqueued', { jobs: field(list(ENQUEUED, LIMITS.jobsPerCommand), 'in order') }),
  },
  attached: {
    code: 3,
    fields: record<AttachReply>('attached', {
      lost: or(RUN_KEYS, NONE, 'those of `held` that are no longer the session’s own'),
      disputed: optional(list(text(256), ITEMS_MAX), 'names for which other defaults than the session’s own are in force'),
    }),
  },
  value: { code: 4, fields: record<{ value: unknown }>('value', { value: or(value, null, 'maps with string keys') }) },
  stats: { code: 5, fields: STATS },
} as const

const REPLY: Kind<Reply> = {
  says: 'Reply',
  write(out, { id, value, refusal }) {
    const head = (code: number, fields: { head(...args: never): number }, of: object): number => {
      const length = (fields.head as (o: typeof out, v: object, lead: number) => number)(out, of, 2)
      out.number(id)
      out.number(code)
      return length
    }
    if (refusal !== undefined) {
      const { code, fields } = REPLIES.refusal
      fields.writeFields(out, refusal, head(code, fields, refusal))
    } else if (value === true) head(REPLIES.true.code, REPLIES.true.fields, {})
    else if (isEnqueued(value)) {
      const { code, fields } = REPLIES.enqueued
      const of = { jobs: value }
      fields.writeFields(out, of, head(code, fields, of))
    } else if (isAttachReply(value)) {
      const { code, fields } = REPLIES.attached
      fields.writeFields(out, value, head(code, fields, value))
    } else if (STATS.fits(value)) {
      const { code, fields } = REPLIES.stats
      fields.writeFields(out, value, head(code, fields, value))
    } else {
      const { code, fields } = REPLIES.value
      const of = { value }
      fields.writeFields(out, of, head(code, fields, of))
    }
  },
  // An unreadable reply ends only its own call: its id is known, and the next reply begins behind it.
  read(from) {
    const place = from.place
    const length = from.array(FIELDS_MAX)
    from.where = 'reply'
    if (length < 2) throw from.wrong('a reply has an id and a kind')
    const id = from.integer()
    try {
      return readReply(from, id, from.integer(), length - 2)
    } catch (error) {
      if (!(error instanceof WireError) || !from.passOver(place)) throw error
      return { id, refusal: unreadable(error) }
    }
  },
}

function unreadable(error: WireError): Refusal {
  if (error.beyond) {
    return { code: 'TOO_LARGE', message: `the answer is more than this client takes: ${error.message}; ask for less at a time` }
  }
  return { code: 'PROTOCOL', message: `the answer cannot be read: ${error.message}; bring the older of client and server up to date` }
}

function readReply(from: Reader, id: number, code: number, left: number): Reply {
  switch (code) {
    case REPLIES.true.code:
      REPLIES.true.fields.readInto(from, left, {})
      return { id, value: true }
    case REPLIES.refusal.code:
      return { id, refusal: REPLIES.refusal.fields.readInto(from, left, {}) }
    case REPLIES.enqueued.code:
      return { id, value: REPLIES.enqueued.fields.readInto(from, left, {}).jobs }
    case REPLIES.attached.code:
      return { id, value: REPLIES.attached.fields.readInto(from, left, {}) }
    case REPLIES.value.code:
      return { id, value: REPLIES.value.fields.readInto(from, left, {}).value }
    case REPLIES.stats.code:
      return { id, value: STATS.readInto(from, left, {}) }
    default:
      throw from.wrong(`a reply of kind ${code} is none that is known: see docs/protocol.md`)
  }
}

function isEnqueued(value: unknown): value is readonly Enqueued[] {
  if (!Array.isArray(value) || value.length === 0) return false
  const [first] = value as [unknown]
  return typeof first === 'object' && first !== null && 'created' in first && 'seq' in first
}

function isAttachReply(value: unknown): value is AttachReply {
  return typeof value === 'object' && value !== null && 'lost' in value && Array.isArray(value.lost)
}

export const JOINED = record<Joined>('Joined', {
  name: field(text(LIMITS.keyLength), 'as in `join`'),
  place: field(count, 'of the first of its jobs among the parents, for `parents`'),
  jobs: field(count, 'how many'),
})

export const GRANT = record<Grant>('Grant', {
  session: field(recurring(LIMITS.nameLength), 'that gets it'),
  ...KEY,
  name: field(recurring(LIMITS.nameLength)),
  queue: field(recurring(LIMITS.nameLength)),
  run: field(count, 'the fence: all that is said about the job names it'),
  attempt: field(count, 'from 1'),
  maxAttempts: field(count),
  priority: field(priority),
  weight: field(weight),
  runAt: field(time, 'when it was due'),
  timeout: field(duration(0, true)),
  heartbeatTimeout: field(duration(0), 'the lease of the run, if it is not 0'),
  data: or(data, null),
  checkpoint: or(data, null, 'of an earlier attempt'),
  tags: or(list(text(LIMITS.keyLength), LIMITS.tagsPerJob), undefined),
  meta: or(text(LIMITS.metaBytes), undefined, 'JSON text'),
  concurrencyKey: optional(text(LIMITS.keyLength)),
  joined: optional(list(JOINED, LIMITS.joinsPerJob), 'what earlier runs of the job have joined'),
  logLines: optional(count, `log lines that the run keeps: no more need to be sent; nil: ${LIMITS.logLinesPerRun}`),
  idempotencyKey: optional(text(LIMITS.keyLength)),
})

export const NOTICE = union<'kind', Notice>('Notice', 'kind', {
  abort: {
    code: 1,
    fields: {
      session: field(recurring(LIMITS.nameLength)),
      ...RUN,
      cause: field(choice(ABORT_CAUSES)),
      reason: optional(told(LIMITS.reasonLength), 'of `cancel`: why'),
      by: optional(told(LIMITS.nameLength), 'of `cancel`: who'),
    },
  },
  lost: { code: 2, fields: { session: field(recurring(LIMITS.nameLength)), ...RUN } },
  messaged: { code: 6, fields: { session: field(recurring(LIMITS.nameLength)), ...RUN } },
  reattach: { code: 3, fields: {} },
  stop: {
    code: 5,
    fields: { session: field(recurring(LIMITS.nameLength)), timeout: field(duration(0, true), 'for what runs') },
  },
  gap: { code: 4, fields: { first: field(count, 'number of the first event that was left out'), last: field(count, 'of the last one') } },
})

/** The fields that all events begin with. */
const STAMP = record<Pick<JournalEvent, 'seq' | 'type'>>('Event', {
  seq: field(count, 'a cursor, only grows'),
  type: field(choice(EVENT_TYPES), 'says which fields follow'),
})

const JOB_EVENT = record<Omit<JobEvent, 'seq' | 'type'>>('JobEvent', {
  jobSeq: field(seq),
  node: field(node),
  enqueuedAt: field(idTime),
  queue: field(recurring(LIMITS.nameLength)),
  name: field(recurring(LIMITS.nameLength)),
  at: field(time),
  run: field(count),
  attempt: field(count),
  error: optional(text(2 ** 16), 'name of its class'),
  fraction: optional<number>({ says: 'number', write: (out, of) => out.number(of), read: (from) => from.number() }, 'of `progress`'),
  runAt: optional(time, 'of `retrying` and `snoozed`'),
  message: optional(
    told(LIMITS.errorMessageLength),
    'of `failed` and `retrying`, and of what `subscribe` asked for: the error’s message; of `cancelled`: the reason',
  ),
  code: optional(told(LIMITS.errorCodeLength), 'the same: its code'),
  cause: optional(RUN_CAUSES, 'the same: its causes'),
})

const QUEUE_EVENT = record<Omit<QueueEvent, 'seq' | 'type'>>('QueueEvent', {
  at: field(time),
  queue: field(recurring(LIMITS.nameLength)),
  name: optional(recurring(LIMITS.nameLength), 'of `paused` and `resumed`: only jobs of that name'),
  key: optional(text(LIMITS.keyLength), 'the same: only jobs with that concurrency key'),
})

const SCHEDULE_EVENT = record<Omit<ScheduleEvent, 'seq' | 'type'>>('ScheduleEvent', {
  at: field(time),
  schedule: field(recurring(LIMITS.nameLength)),
  tick: optional(time, 'of `fired` and `skipped`'),
  job: optional(JOB_KEY, 'of `fired` and `triggered`'),
  reason: optional(choice(MISS_REASONS), 'of `skipped`'),
})

const WORKER_EVENT = record<Omit<WorkerEvent, 'seq' | 'type'>>('WorkerEvent', {
  at: field(time),
  worker: field(recurring(LIMITS.nameLength), 'its id'),
  session: field(text(LIMITS.nameLength), 'number of its session: distinguishes the workers that have had the id'),
  name: optional(recurring(LIMITS.nameLength), 'of `disputed`: the job name for which other defaults are in force'),
})

const ENGINE_EVENT = record<Omit<EnginePauseEvent, 'seq' | 'type'>>('EngineEvent', {
  at: field(time),
})

export const EVENTS = { STAMP, JOB_EVENT, QUEUE_EVENT, SCHEDULE_EVENT, WORKER_EVENT, ENGINE_EVENT } as const

function restOf(type: EventType): RecordKind<object> {
  if (type.startsWith('queue.')) return QUEUE_EVENT
  if (type.startsWith('schedule.')) return SCHEDULE_EVENT
  if (type.startsWith('worker.')) return WORKER_EVENT
  return type.startsWith('engine.') ? ENGINE_EVENT : JOB_EVENT
}

/** One array: the fields that all events have, and behind them those of its type. */
const EVENT: Kind<JournalEvent> = {
  says: STAMP.says,
  write(out, event) {
    const rest = restOf(event.type)
    const length = rest.head(out, event, STAMP_LENGTH)
    STAMP.writeFields(out, event, STAMP_LENGTH)
    rest.writeFields(out, event, length)
  },
  read(from) {
    const length = from.array(FIELDS_MAX)
    const stamp = STAMP.readInto(from, Math.min(length, STAMP_LENGTH), {})
    return restOf(stamp.type).readInto(from, length - STAMP_LENGTH, stamp) as JournalEvent
  },
}
const STAMP_LENGTH = 2

export const DELIVERY = record<Delivery>('Delivery', {
  renewal: field(count, 'the last `renew` of this connection that had been counted; 0 before the first'),
  replies: or(list(REPLY, ITEMS_MAX), NONE, 'in the order in which the requests came'),
  grants: or(list(GRANT, ITEMS_MAX), NONE),
  notices: or(list(NOTICE, ITEMS_MAX), NONE),
  events: or(list(EVENT, ITEMS_MAX), NONE),
})
