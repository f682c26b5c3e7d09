/**
 * Ends a run whose job waits for jobs that it creates. They, and what the job waits for, are in one commit: before it, nothing has
 * happened and the run may be repeated; after it, the job is blocked, and the last of them lets it through.
 */
import type { NewJob } from '../../commands.ts'
import { type Decision, Refused } from '../../decision.ts'
import type { JoinCommand } from '../../flowCommands.ts'
import type { JobKey } from '../../id.ts'
import { LIMITS } from '../../limits.ts'
import { hasKey } from '../jobs/coalescing.ts'
import { staleRun } from '../jobs/complete.ts'
import { setDependencies } from '../jobs/dependencies.ts'
import { makeRoom } from '../jobs/drop.ts'
import { endAborted, endJoined, runOf } from '../jobs/end.ts'
import { createInFlow, findFull } from '../jobs/enqueue.ts'
import { queueOf } from '../queues/queueOf.ts'
import { COUNTER_PENDING, type DependencyCounter, type FlowPlace, type JoinedJobs } from '../records/flowState.ts'
import type { Job } from '../records/job.ts'
import { joinRefused } from '../state/refuse.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'

export function join(turn: TurnContext, command: JoinCommand, sender: Sender): Decision<'join'> {
  const { tables } = turn
  const job = runOf(turn, command, sender)
  if (job === undefined) return staleRun(turn, command, sender)
  if (job.abort !== undefined || job.cancelRequested) {
    endAborted(turn, job)
    return true
  }
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const { name, jobs } = command
  const place = job.extras?.flow ?? { first: job.seq, ref: job.lane.name, parents: 0, children: false, onFailure: 'continue' }
  const refused = findRefusal(turn, job, place, command) ?? findFull(turn, jobs, job.lane.queue)
  if (refused !== undefined) return refused
  const first: JobKey = { seq: tables.nextSeq, node: tables.node, enqueuedAt: turn.now.wall }
  for (const [index, each] of jobs.entries())
    createInFlow(turn, each, { first: first.seq, ref: `${name}/${index}`, parents: 0, children: true, onFailure: 'continue' })
  awaitJobs(turn, job, place, { name, place: place.parents + 1, jobs: jobs.length, first })
  endJoined(turn, job)
  makeRoom(turn, first.seq)
  return true
}

/** Closes the job's counter, or gives it one. The delay of its flow has passed, and counts once. */
function awaitJobs(turn: TurnContext, job: Job, { delay: _passed, ...place }: FlowPlace, joined: JoinedJobs): void {
  const { effects, facts } = turn
  const { first, jobs } = joined
  const known = facts.dependencies(job.seq)
  if (known === undefined) {
    const counter: DependencyCounter = { seq: job.seq, parent: first.seq, pending: jobs, failed: 0, state: COUNTER_PENDING }
    effects.flows.counters.push(counter)
    facts.addDependencies(counter)
  } else {
    known.pending += jobs
    setDependencies(turn, known, COUNTER_PENDING)
  }
  for (let index = 0; index < jobs; index++)
    effects.flows.edges.push({ parent: first.seq + index, child: job.seq, place: joined.place + index })
  const flow = { ...place, parents: place.parents + jobs, joined: [...(place.joined ?? []), joined] }
  effects.changeExtras(job, { ...job.extras, flow })
}

/** Refuses what a worker does not ask for, and what could never end. */
function findRefusal(
  { tables }: TurnContext,
  job: Job,
  { parents, joined = [] }: FlowPlace,
  { name, jobs }: JoinCommand,
): Refused | undefined {
  if (jobs.length === 0 || jobs.some(hasKey))
    return joinRefused('join', `'${name}' needs at least one job, and none with a key that an earlier job may have`)
  if (joined.some((each) => each.name === name)) return joinRefused('join', `the job has joined '${name}' before: name each group once`)
  if (joined.length >= LIMITS.joinsPerJob) return joinRefused('join', `a job joins at most ${LIMITS.joinsPerJob} groups of jobs`)
  if (parents + jobs.length > LIMITS.edgesPerFlow)
    return joinRefused('join', `a job waits for at most ${LIMITS.edgesPerFlow} others in all`)
  const { queue } = job.lane
  const key = job.extras?.concurrencyKey
  const isStuck = (each: NewJob) => each.concurrencyKey === key && queueOf(tables, each) === queue.name
  if (key === undefined || queue.settings.keyOrder !== 'strict' || !jobs.some(isStuck)) return undefined
  const message = `a job with the key '${key}' of queue '${queue.name}' would wait for ever: its keyOrder is 'strict', and the job that waits for it has the turn of the key. Give it another key or queue`
  return joinRefused('concurrencyKey', message)
}
