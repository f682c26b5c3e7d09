/** Every experiment, in the order of the table. */
import { bulk } from './bulk.ts'
import { drain } from './drain.ts'
import { endToEnd } from './endToEnd.ts'
import { enqueue } from './enqueue.ts'
import { eventLoop } from './eventLoop.ts'
import type { Experiment } from './experiment.ts'
import { features } from './features.ts'
import { greedy } from './greedy.ts'
import { growth } from './growth.ts'
import { handlers } from './handlers.ts'
import { idle } from './idle.ts'
import { idleWorkers } from './idleWorkers.ts'
import { postgres } from './postgres.ts'
import { remote } from './remote.ts'
import { resume } from './resume.ts'
import { sleepers } from './sleepers.ts'
import { steps } from './steps.ts'
import { sustained } from './sustained.ts'

export const EXPERIMENTS: readonly Experiment[] = [
  enqueue,
  bulk,
  drain,
  endToEnd,
  handlers,
  remote,
  postgres,
  idleWorkers,
  steps,
  resume,
  sleepers,
  features,
  idle,
  greedy,
  growth,
  eventLoop,
  sustained,
]
