/** The other systems' share of an experiment: each in its own durability class. */
import type { PeerTask, Settings } from '../measurement.ts'
import type { Plan } from '../plan.ts'
import type { Omission } from '../result.ts'
import type { Cell } from './experiment.ts'

/** Samples of an idle system that has to be asked again and again. */
const IDLE_JOBS_MAX = 1_000

export function peerCells(plan: Plan, task: PeerTask, settings: Partial<Settings>): Cell[] {
  return plan.peers.flatMap(({ peer }) =>
    peer.tasks.includes(task)
      ? peer.classes.map((durability) => ({
          subject: peer.name,
          label: durability,
          scenario: 'peer',
          settings: {
            ...settings,
            peer: peer.name,
            task,
            durability,
            jobs: task === 'idle' ? Math.min(plan.idleJobs, IDLE_JOBS_MAX) : Math.min(plan.peerJobs, peer.jobsMax),
            ...(plan.packages !== '' && { packages: plan.packages }),
          },
          against: { subject: task === 'idle' ? 'millrace' : 'limit', label: durability },
          note: peer.settings(durability),
        }))
      : [],
  )
}

export function peerOmissions(plan: Plan, task: PeerTask): Omission[] {
  return plan.peers.flatMap(({ peer }) => {
    const reason = peer.without?.[task]
    return peer.tasks.includes(task) ? [] : [{ subject: peer.name, experiment: task, reason: reason ?? 'it has no such call' }]
  })
}
