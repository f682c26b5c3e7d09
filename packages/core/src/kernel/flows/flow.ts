/** Creates a flow: its jobs wait for one another from the start. */

import { type Decision, Refused } from '../../decision.ts'
import type { FlowCommand, FlowNode } from '../../flowCommands.ts'
import { makeRoom } from '../jobs/drop.ts'
import { answer, createInFlow, findFull, IDEMPOTENCY_TTL_MS } from '../jobs/enqueue.ts'
import { COUNTER_PENDING, type DependencyCounter, type FlowPlace } from '../records/flowState.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** The name under which keys of flows are stored. No job has it, so they are separate from the keys of jobs. */
export const FLOW_KEYS = '#flow'

export function flow(turn: TurnContext, { nodes, idempotencyKey: key, idempotencyTtl }: FlowCommand): Decision<'flow'> {
  const { tables, effects, facts, now } = turn
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const earlier = key === undefined ? undefined : facts.idempotent(FLOW_KEYS, key)
  if (earlier !== undefined) return answer(earlier, false)
  const full = findFull(
    turn,
    nodes.map(({ job }) => job),
  )
  if (full !== undefined) return full
  const first = tables.nextSeq
  const awaited = new Set(nodes.flatMap(({ parents }) => parents))
  const jobs = nodes.map((node, index) => {
    const job = createInFlow(turn, node.job, placeOf(node, first, awaited.has(index)))
    if (node.parents.length > 0) block(turn, node, job.seq, first)
    return job
  })
  makeRoom(turn, first)
  const [job] = jobs
  if (job === undefined) throw new Error('a flow has jobs')
  if (key !== undefined) {
    const expiresAt = now.wall + (idempotencyTtl ?? IDEMPOTENCY_TTL_MS)
    effects.idempotency.push({ name: FLOW_KEYS, key, job, expiresAt, lastSeq: first + jobs.length - 1 })
    facts.holdIdempotent(FLOW_KEYS, key, job)
  }
  return answer(job, true)
}

function placeOf({ ref, job, parents, onFailure }: FlowNode, first: number, children: boolean): FlowPlace {
  const delay = parents.length > 0 ? job.delay : undefined
  return { first, ref, parents: parents.length, children, onFailure, ...(delay !== undefined && { delay }) }
}

function block({ effects, facts }: TurnContext, { parents }: FlowNode, child: number, first: number): void {
  const counter: DependencyCounter = {
    seq: child,
    parent: first + (parents[0] ?? 0),
    pending: parents.length,
    failed: 0,
    state: COUNTER_PENDING,
  }
  effects.flows.counters.push(counter)
  facts.addDependencies(counter)
  for (const [index, parent] of parents.entries()) effects.flows.edges.push({ parent: first + parent, child, place: index + 1 })
}
