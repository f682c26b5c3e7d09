/** A store that keeps nothing: so that a turn costs what its decisions cost. */
import type { Store } from '@millrace/core'

export const emptyStore: Store = {
  load: () => ({ node: 1, nextSeq: 1, nextEvent: 1, nextSession: 1, lanes: [], active: [], definitions: [] }),
  jobs: () => [],
  idempotent: () => [],
  unique: () => [],
  window: () => ({ rows: [], complete: true }),
  due: () => [],
  expired: () => [],
  failed: () => [],
  prunable: () => undefined,
  deadlines: () => ({ dueAt: 0, expiresAt: 0 }),
  job: () => undefined,
  lastError: () => undefined,
  page: () => [],
  oldestWaiting: () => 0,
  events: () => [],
  journal: () => ({ firstEvent: 0, lastEvent: 0, bytes: 0 }),
  write: () => {},
  backup: async () => ({ bytes: 0 }),
  releaseBallast: () => {},
  restoreBallast: () => true,
  reopen: () => {},
  walBytes: () => 0,
  foldWal: () => {},
  close: () => {},
}
