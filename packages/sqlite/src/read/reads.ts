/** Every read of the store, over one connection: the writer's own, or a reader thread's. */
import type { Store } from '@millrace/core'
import type { Database } from '../driver.ts'
import { prepareJob, prepareLastError } from './attempts.ts'
import { prepareEvents } from './events.ts'
import { prepareFailed } from './failed.ts'
import { prepareChildren, prepareFlowDue, prepareFlowLeft, prepareGates, prepareParents } from './flows.ts'
import { prepareJobs } from './jobs.ts'
import { prepareJournal } from './journal.ts'
import { prepareIdempotent, prepareUnique } from './keys.ts'
import { prepareLoad } from './load.ts'
import { preparePage } from './page.ts'
import { preparePrunable } from './prunable.ts'
import { prepareMarks, prepareSourced } from './sources.ts'
import { prepareDeadlines, prepareDue, prepareExpired } from './timed.ts'
import { prepareOldestWaiting, prepareWindow } from './window.ts'

export const READ_NAMES = [
  'load',
  'jobs',
  'idempotent',
  'unique',
  'sourced',
  'marks',
  'gates',
  'flowDue',
  'children',
  'flowLeft',
  'window',
  'due',
  'expired',
  'failed',
  'prunable',
  'deadlines',
  'job',
  'lastError',
  'parents',
  'page',
  'oldestWaiting',
  'events',
  'journal',
] as const satisfies readonly (keyof Store)[]

export type Reads = Pick<Store, (typeof READ_NAMES)[number]>

export function prepareReads(db: Database): Reads {
  return {
    load: prepareLoad(db),
    jobs: prepareJobs(db),
    idempotent: prepareIdempotent(db),
    unique: prepareUnique(db),
    sourced: prepareSourced(db),
    marks: prepareMarks(db),
    gates: prepareGates(db),
    flowDue: prepareFlowDue(db),
    children: prepareChildren(db),
    flowLeft: prepareFlowLeft(db),
    window: prepareWindow(db),
    due: prepareDue(db),
    expired: prepareExpired(db),
    failed: prepareFailed(db),
    prunable: preparePrunable(db),
    deadlines: prepareDeadlines(db),
    job: prepareJob(db),
    lastError: prepareLastError(db),
    parents: prepareParents(db),
    page: preparePage(db),
    oldestWaiting: prepareOldestWaiting(db),
    events: prepareEvents(db),
    journal: prepareJournal(db),
  }
}
