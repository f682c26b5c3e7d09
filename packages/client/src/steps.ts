/** Reads what the durable calls of a job have left with it, page by page. */
import {
  type CommandOf,
  decodeData,
  JobNotFoundError,
  type KeptMessage,
  type OpenWait,
  parseId,
  type RunError,
  type StepKind,
  type StepResult,
  shortened,
} from '@millrace/core'
import { textOf } from './jobKey.ts'
import type { Mailbox } from './mailbox.ts'
import type { PayloadCodec } from './payloadCodec.ts'
import { keyOfShortId } from './shortId.ts'

/** A recorded result: every later run of the job gets it again. */
export interface JobStep {
  /** Place in the order in which the results of the job were recorded, from 1. */
  readonly number: number
  readonly name: string
  readonly kind: StepKind
  /** The run that recorded it; of a sleep: the run that began it. */
  readonly run: number
  readonly startedAt: Date
  readonly endedAt: Date
  /** The value that the call resolves to: JSON, or bytes. Undefined if there is none. */
  readonly value: unknown
  /** True if the value could not be decoded, and is given as it is stored. Absent if it could. */
  readonly undecoded?: true
  /** The error that the step failed with in its last attempt. Absent unless it permanently failed. */
  readonly error?: RunError
}

/** A wait of a job that has yet to end. */
export interface JobWait {
  readonly name: string
  /** The time at which the engine first heard of it. */
  readonly since: Date
  /** Absent for a message that is awaited without a timeout. */
  readonly until?: Date
  /** The name of the message that it waits for. Absent unless it waits for one. */
  readonly message?: string
}

/** A message that no `waitFor` has taken yet. */
export interface JobMessage {
  /** Place in the order in which the messages of the job came, from 1. */
  readonly number: number
  readonly name: string
  readonly at: Date
  /** The value that it carries: JSON, or bytes. */
  readonly value: unknown
  /** True if the value could not be decoded, and is given as it is stored. Absent if it could. */
  readonly undecoded?: true
  /** The name of who has sent it. Absent if nobody said. */
  readonly by?: string
}

/** A page of recorded results. */
export interface JobSteps {
  readonly steps: readonly JobStep[]
  /** The open waits of the job, the earliest end first: all of them, in every page. */
  readonly waits: readonly JobWait[]
  /** The oldest messages that the job keeps, at most `limit` and 4 MiB: the same in every page. */
  readonly messages: readonly JobMessage[]
  /** The number of all messages that it keeps. */
  readonly kept: number
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: number | undefined
}

export async function readSteps(
  calls: Pick<Mailbox, 'call'>,
  id: string,
  wanted: Omit<CommandOf<'steps'>, 'op' | 'id'>,
  codec: PayloadCodec | undefined,
): Promise<JobSteps> {
  const key = parseId(textOf(id)) ?? (await keyOfShortId(calls, id))
  const page = key && (await calls.call<'steps'>({ op: 'steps', id: key, ...wanted }))
  if (!page) throw new JobNotFoundError(`there is no job ${shortened(id)}`, { jobId: id })
  return {
    steps: page.results.map((each) => stepOf(each, codec)),
    waits: page.waits.map(waitOf),
    messages: page.messages.map((each) => messageOf(each, codec)),
    kept: page.kept,
    next: page.next ?? undefined,
  }
}

function stepOf({ number, name, kind, run, startedAt, endedAt, value, error }: StepResult, codec: PayloadCodec | undefined): JobStep {
  return {
    ...{ number, name, kind, run, startedAt: new Date(startedAt), endedAt: new Date(endedAt) },
    ...valueIn('step', value, codec),
    ...(error !== undefined && { error }),
  }
}

/** One corrupt value does not hide the others. */
function valueIn(
  what: 'step' | 'message',
  value: StepResult['value'],
  codec: PayloadCodec | undefined,
): Pick<JobStep, 'value' | 'undecoded'> {
  try {
    return { value: decodeData(codec === undefined ? value : codec.decode(what, value)) }
  } catch {
    return { value, undecoded: true }
  }
}

function waitOf({ name, since, until, message }: OpenWait): JobWait {
  return { name, since: new Date(since), ...(until !== undefined && { until: new Date(until) }), ...(message !== undefined && { message }) }
}

function messageOf({ number, name, at, value, by }: KeptMessage, codec: PayloadCodec | undefined): JobMessage {
  return { number, name, at: new Date(at), ...valueIn('message', value, codec), ...(by !== undefined && { by }) }
}
