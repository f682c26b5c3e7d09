/** The other systems' share of an experiment: each in its own durability class. */
import type { HandlerKind } from '../handlers.ts'
import type { Durability, PeerTask, Settings } from '../measurement.ts'
import type { Peer } from '../peers/peer.ts'
import type { Plan } from '../plan.ts'
import type { Omission } from '../result.ts'
import type { Cell } from './experiment.ts'

/** Samples of an idle system that has to be asked again and again. */
const IDLE_JOBS_MAX = 1_000

export function peerCells(plan: Plan, task: PeerTask, settings: Partial<Settings>): Cell[] {
  return plan.peers.flatMap(({ peer }) =>
    peer.tasks.includes(task)
      ? peer.classes.map((durability) => ({ ...cellOf(plan, peer, durability, { ...settings, task }), label: durability }))
      : [],
  )
}

export function peerOmissions(plan: Plan, task: PeerTask): Omission[] {
  return plan.peers.flatMap(({ peer }) => {
    const reason = peer.without?.[task]
    return peer.tasks.includes(task) ? [] : [{ subject: peer.name, experiment: task, reason: reason ?? 'it has no such call' }]
  })
}

/** The peers of one class with one kind of handler, for those that can run it. */
export function peerHandlerCells(plan: Plan, durability: Durability, kind: HandlerKind, settings: Partial<Settings>): Cell[] {
  return plan.peers
    .filter(({ peer }) => peer.classes.includes(durability) && typeof kind.peer !== 'string' && lackOf(peer, kind) === undefined)
    .map(({ peer }) => ({
      ...cellOf(plan, peer, durability, { ...settings, task: 'endToEnd', handler: kind.name }),
      label: `${durability}, ${kind.name}`,
    }))
}

export function peerHandlerOmissions(plan: Plan, experiment: string, kinds: readonly HandlerKind[]): Omission[] {
  if (plan.peers.length === 0) return []
  return kinds.flatMap((kind) => {
    if (typeof kind.peer === 'string') return [{ subject: 'other queues', experiment, reason: `${kind.name}: ${kind.peer}` }]
    return plan.peers.flatMap(({ peer }) => {
      const lack = lackOf(peer, kind)
      return lack === undefined ? [] : [{ subject: peer.name, experiment, reason: `${kind.name}: ${lack}` }]
    })
  })
}

function lackOf({ lacks }: Peer, { needs }: HandlerKind): string | undefined {
  return needs === undefined ? undefined : lacks[needs]
}

/** @param jobs of a run; by default as many as the plan gives other queues */
export function cellOf(
  plan: Plan,
  peer: Peer,
  durability: Durability,
  settings: Partial<Settings> & { task: PeerTask },
  jobs = plan.peerJobs,
): Omit<Cell, 'label'> {
  const idle = settings.task === 'idle'
  return {
    subject: peer.name,
    scenario: 'peer',
    settings: {
      ...settings,
      peer: peer.name,
      durability,
      jobs: idle ? Math.min(plan.idleJobs, IDLE_JOBS_MAX) : Math.min(jobs, peer.jobsMax),
      ...(plan.packages !== '' && { packages: plan.packages }),
    },
    against: { subject: idle ? 'millrace' : 'limit', label: durability },
    note: peer.settings(durability),
  }
}
