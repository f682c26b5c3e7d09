/** All planted bugs, by the part of the sources that they are in. */

import type { Canary } from './canary.ts'
import { CLIENT } from './client.ts'
import { ENGINE } from './engine.ts'
import { FLOWS } from './flows.ts'
import { JOBS } from './jobs.ts'
import { KEYS } from './keys.ts'
import { QUEUES } from './queues.ts'
import { SCHEDULES } from './schedules.ts'
import { SESSIONS } from './sessions.ts'
import { SQLITE } from './sqlite.ts'
import { STEPS } from './steps.ts'
import { TURN } from './turn.ts'
import { WORKER } from './worker.ts'

export const CANARIES: readonly Canary[] = [
  ...TURN,
  ...JOBS,
  ...KEYS,
  ...QUEUES,
  ...FLOWS,
  ...STEPS,
  ...SCHEDULES,
  ...SESSIONS,
  ...ENGINE,
  ...SQLITE,
  ...WORKER,
  ...CLIENT,
]
