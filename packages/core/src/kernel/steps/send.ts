/** Sends a message to a job: a wait takes it at once, or it is kept for a later one. */
import { type Decision, Refused } from '../../decision.ts'
import { formatId } from '../../id.ts'
import { ACTIVE, isFinal, STATES } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import type { SendCommand } from '../../stepCommands.ts'
import type { Sent } from '../../steps.ts'
import { IDEMPOTENCY_TTL_MS } from '../jobs/enqueue.ts'
import { promote } from '../jobs/promote.ts'
import { endWaits } from '../jobs/results.ts'
import { isAsleep, type Job } from '../records/job.ts'
import { setDue } from '../state/due.ts'
import { finished, noHolder, notFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { hasRoom, keepMessage, messageKeys } from './messages.ts'

export function send(turn: TurnContext, command: SendCommand): Decision<'send'> {
  const { id, of, idempotencyKey: key, only } = command
  const { effects, facts, now } = turn
  const found = of === undefined ? id : facts.holder(of)
  const job = found && facts.find(found)
  if (job === undefined) return id === undefined ? noHolder(of) : notFound(id)
  if (only?.includes(job.lane.name) === false) return foreign(only, job)
  if (key !== undefined && facts.idempotent(messageKeys(job), key) !== undefined) return 'known'
  if (isFinal(job.state)) return finished(job, STATES[job.state], 'it takes no messages any more')
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const sent = deliver(turn, job, command)
  if (key !== undefined && !(sent instanceof Refused)) {
    // The key stays for as long as the job lives, and a day at least.
    const record = { name: messageKeys(job), key, job, expiresAt: now.wall + IDEMPOTENCY_TTL_MS, lastSeq: job.seq }
    effects.idempotency.push(record)
    facts.holdIdempotent(record.name, key, job)
  }
  return sent
}

function deliver(turn: TurnContext, job: Job, { name, value, by }: SendCommand): Sent | Refused {
  const { effects, now } = turn
  const message = { name, value: value ?? 'null', ...(by !== undefined && { by }) }
  const { waiting } = job.extras?.steps ?? {}
  const wait = waiting?.waits.find((each) => each.message === name)
  if (waiting !== undefined && wait !== undefined && isAsleep(job)) {
    endWaits(turn, job, waiting, [{ wait, value: message.value }])
    setDue(turn, job, now.wall)
    promote(turn, job)
    return 'taken'
  }
  if (!hasRoom(job, message.value)) return full(job)
  keepMessage(turn, job, message)
  // A run that goes on beside its wait asks again.
  if (wait !== undefined && job.state === ACTIVE && job.session !== undefined)
    effects.notices.push({ session: job.session, job, run: job.run, note: { kind: 'messaged' } })
  return 'kept'
}

function full(job: Job): Refused {
  const jobId = formatId(job)
  const { messagesPerJob, messagesBytes } = LIMITS
  const message = `job ${jobId} keeps ${job.extras?.kept?.count ?? 0} messages that it has not taken, and may keep ${messagesPerJob} with ${messagesBytes} bytes: send again once it has taken some`
  return new Refused({ code: 'MESSAGES_FULL', message, details: { jobId } })
}

function foreign(only: readonly string[], { lane }: Job): Refused {
  const message = `this token sends messages to jobs named ${only.map((name) => `'${name}'`).join(', ')}, and the job is a '${lane.name}'`
  return new Refused({ code: 'FORBIDDEN', message })
}
