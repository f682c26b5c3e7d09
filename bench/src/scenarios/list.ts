/** Every scenario by name. */
import type { Scenario } from '../measurement.ts'
import { bulk } from './bulk.ts'
import { drain } from './drain.ts'
import { endToEnd } from './endToEnd.ts'
import { enqueue } from './enqueue.ts'
import { features } from './features.ts'
import { fill } from './fill.ts'
import { fsync } from './fsync.ts'
import { greedy } from './greedy.ts'
import { host } from './host.ts'
import { idle } from './idle.ts'
import { idleWorkers } from './idleWorkers.ts'
import { limit } from './limit.ts'
import { limitDrain } from './limitDrain.ts'
import { limitInsert } from './limitInsert.ts'
import { limitSteps } from './limitSteps.ts'
import { peer } from './peer.ts'
import { postgresLimit } from './postgresLimit.ts'
import { remote } from './remote.ts'
import { resume } from './resume.ts'
import { sleepers } from './sleepers.ts'
import { steps } from './steps.ts'
import { sustained } from './sustained.ts'

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  bulk,
  drain,
  endToEnd,
  enqueue,
  features,
  fill,
  fsync,
  greedy,
  host,
  idle,
  idleWorkers,
  limit,
  limitDrain,
  limitInsert,
  limitSteps,
  peer,
  postgresLimit,
  remote,
  resume,
  sleepers,
  steps,
  sustained,
}
