/** How fast whole jobs go through with handlers as people write them: in the engine's process, in another one, and in other queues. */
import { HANDLERS } from '../handlers.ts'
import type { Durability } from '../measurement.ts'
import type { Plan } from '../plan.ts'
import { IN_FLIGHT } from './endToEnd.ts'
import { type Cell, DURABILITIES, type Experiment } from './experiment.ts'
import { peerHandlerCells, peerHandlerOmissions } from './peerCells.ts'

/** With room to spare: see remote.ts. */
const REMOTE_ROOM = 4 * IN_FLIGHT

export const handlers: Experiment = {
  name: 'handlers',
  what: `whole jobs as in endToEnd, each with another handler: empty, awaits once, awaits a turn of the event loop (\`setImmediate\`), reads \`job.id\` and \`attempt\`, logs and reports progress, empty while its caller reads the handle's id, 1 kB both ways; beside the limit, and under \`normal\` in another process over a Unix socket with a concurrency of ${REMOTE_ROOM}`,
  headline: 'jobsPerSecond',
  ratioTitle: 'of the limit',
  columns: ['mainMicrosPerJob', 'writerMicrosPerJob', 'workersMicrosPerJob', 'turnSizeP50', 'commitP99Ms', 'rssPeakMb'],
  groups: (plan) => DURABILITIES.map((durability) => groupOf(plan, durability)),
  omissions: (plan) => peerHandlerOmissions(plan, 'handlers', kindsOf(plan)),
}

/** Each handler's peers are next to it, so that their runs are too. */
function groupOf(plan: Plan, durability: Durability): Cell[] {
  const kinds = kindsOf(plan)
  const settings = { durability, jobs: plan.jobs, inFlight: IN_FLIGHT, concurrency: IN_FLIGHT }
  const cell = (handler: string) => ({
    subject: 'millrace',
    label: `${durability}, ${handler}`,
    against: { subject: 'limit', label: durability },
    settings: { ...settings, handler },
  })
  const remote = (handler: string) => ({
    ...cell(handler),
    label: `${durability}, ${handler}, another process`,
    scenario: 'remote',
    settings: { ...settings, handler, workers: 1, concurrency: REMOTE_ROOM },
  })
  return [
    { subject: 'limit', label: durability, scenario: 'limit', settings: { durability, jobs: plan.jobs } },
    ...kinds.flatMap((kind) => [
      { ...cell(kind.name), scenario: 'endToEnd' },
      ...peerHandlerCells(plan, durability, kind, { inFlight: IN_FLIGHT, concurrency: IN_FLIGHT }),
    ]),
    ...(durability === 'normal' && plan.otherProcess ? kinds.map(({ name }) => remote(name)) : []),
  ]
}

function kindsOf(plan: Plan): typeof HANDLERS {
  return HANDLERS.filter(({ name }) => plan.handlers.includes(name))
}
