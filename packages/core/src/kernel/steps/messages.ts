/** The messages that a job keeps until a wait takes them. */
import { formatId, type JobKey } from '../../id.ts'
import { dataBytes } from '../../job.ts'
import { LIMITS } from '../../limits.ts'
import type { KeptMessage } from '../../steps.ts'
import type { Job } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Returns the name under which the keys of messages to a job are stored. No job has it, so they are separate from the keys of jobs. */
export function messageKeys(job: JobKey): string {
  return `#message:${formatId(job)}`
}

/** True if the job has room for one more message. */
export function hasRoom({ extras }: Job, value: KeptMessage['value']): boolean {
  const { count = 0, bytes = 0 } = extras?.kept ?? {}
  return count < LIMITS.messagesPerJob && bytes + dataBytes(value) <= LIMITS.messagesBytes
}

/** Keeps a message behind those that the job has. */
export function keepMessage({ effects, now }: TurnContext, job: Job, message: Omit<KeptMessage, 'number' | 'at'>): void {
  const { count = 0, bytes = 0, last = 0 } = job.extras?.kept ?? {}
  effects.messages.push({ seq: job.seq, number: last + 1, at: now.wall, ...message })
  const kept = { count: count + 1, bytes: bytes + dataBytes(message.value), last: last + 1 }
  effects.changeExtras(job, { ...job.extras, kept })
}

/** Takes the oldest message of that name. Returns undefined if the job keeps none. */
export function takeMessage({ facts, effects }: TurnContext, job: Job, name: string): KeptMessage | undefined {
  if (job.extras?.kept === undefined) return undefined
  const { kept, ...others } = job.extras
  const stored = facts.takeMessage(job.seq, name)
  const fresh = effects.messages.findIndex((each) => each.seq === job.seq && each.name === name)
  const message = stored ?? effects.messages[fresh]
  if (message === undefined) return undefined
  if (stored === undefined) effects.messages.splice(fresh, 1)
  else effects.taken.push({ seq: job.seq, number: stored.number })
  const left = { ...kept, count: kept.count - 1, bytes: kept.bytes - dataBytes(message.value) }
  effects.changeExtras(job, left.count === 0 ? others : { ...others, kept: left })
  return message
}
