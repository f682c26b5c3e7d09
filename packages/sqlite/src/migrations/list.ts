/** Every migration, in order. */
import { initial } from './001-initial.ts'
import { batches } from './002-batches.ts'
import { remote } from './003-remote.ts'
import { sources } from './004-sources.ts'
import { queues } from './005-queues.ts'
import { exports } from './006-exports.ts'
import { schedules } from './007-schedules.ts'
import { flows } from './008-flows.ts'
import { history } from './009-history.ts'
import { keyOrder } from './010-key-order.ts'
import { dropOldest } from './011-drop-oldest.ts'
import { kinds } from './012-kinds.ts'
import { paused } from './013-paused.ts'
import { keptKeys } from './014-kept-keys.ts'
import { definitions } from './015-definitions.ts'
import { codesAndCauses } from './016-codes-and-causes.ts'
import { tagsByBlock } from './017-tags-by-block.ts'
import { retrying } from './018-retrying.ts'
import { failureHours } from './019-failure-hours.ts'
import { retryingByDue } from './020-retrying-by-due.ts'
import { pauseEnds } from './021-pause-ends.ts'
import { kept } from './022-kept.ts'
import { cancelReverted } from './023-cancel-reverted.ts'
import { sessionProcess } from './024-session-process.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [
  initial,
  batches,
  remote,
  sources,
  queues,
  exports,
  schedules,
  flows,
  history,
  keyOrder,
  dropOldest,
  kinds,
  paused,
  keptKeys,
  definitions,
  codesAndCauses,
  tagsByBlock,
  retrying,
  failureHours,
  retryingByDue,
  pauseEnds,
  kept,
  cancelReverted,
  sessionProcess,
]

/** The oldest schema that a file can be migrated down to: each later step can be undone. */
export const OLDEST_DOWN = MIGRATIONS.findLast(({ down }) => down === undefined)?.id ?? 1

/** The newest schema that this version knows. */
export const SCHEMA_VERSION = MIGRATIONS.length
