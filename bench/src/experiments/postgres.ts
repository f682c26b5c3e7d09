/** How fast whole jobs go through on Postgres, beside the limit and other queues on the same server. */
import { onPostgres } from '../peers/onPostgres.ts'
import { IN_FLIGHT } from './endToEnd.ts'
import type { Experiment } from './experiment.ts'
import { cellOf } from './peerCells.ts'

const SERVER = 'postgres'
const LABEL = 'full'

export const postgres: Experiment = {
  name: 'postgres',
  what: `whole jobs on Postgres, each run with a server of its own that syncs: each enqueue awaited, ${IN_FLIGHT} in flight, a worker of concurrency ${IN_FLIGHT} in the same process; the limit inserts jobs as running and completes them, in lots of 1,000 over one connection`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of the limit',
  columns: ['mainMicrosPerJob', 'processMicrosPerJob', 'rssPeakMb'],
  groups: (plan) => {
    if (onPostgres.server?.missing() !== undefined) return []
    const settings = { task: 'endToEnd', inFlight: IN_FLIGHT, concurrency: IN_FLIGHT } as const
    const peers = plan.peers.filter(({ peer }) => peer.server?.name === SERVER && peer.tasks.includes('endToEnd')).map(({ peer }) => peer)
    return [
      [
        { subject: 'limit', label: LABEL, scenario: 'postgresLimit', settings: { durability: LABEL, jobs: plan.jobs } },
        ...[onPostgres, ...peers.filter((peer) => peer !== onPostgres)].map((peer) => ({
          ...cellOf(plan, peer, LABEL, settings, peer === onPostgres ? plan.jobs : undefined),
          label: LABEL,
        })),
      ],
    ]
  },
  omissions: () => {
    const reason = onPostgres.server?.missing()
    return reason === undefined ? [] : [{ subject: onPostgres.name, experiment: 'postgres', reason }]
  },
}
