/** What a token may allow, and what each operation needs. */
import type { Operation } from '@millrace/core'

/** In the order of their numbers on the wire. */
export const SCOPES = ['enqueue', 'work', 'read', 'admin'] as const

export type Scope = (typeof SCOPES)[number]

export const SCOPE_OF: Readonly<Record<Operation, Scope>> = {
  enqueue: 'enqueue',
  forward: 'enqueue',
  attach: 'work',
  drain: 'work',
  leave: 'work',
  renew: 'work',
  complete: 'work',
  fail: 'work',
  snooze: 'work',
  giveBack: 'work',
  heartbeat: 'work',
  checkpoint: 'work',
  progress: 'work',
  log: 'work',
  get: 'read',
  watch: 'read',
  unwatch: 'read',
  list: 'read',
  queues: 'read',
  stats: 'read',
  workers: 'read',
  subscribe: 'read',
  events: 'read',
  exports: 'read',
  cancel: 'admin',
  update: 'admin',
  retry: 'admin',
  redrive: 'admin',
  runNow: 'admin',
  delete: 'admin',
  configure: 'admin',
  pause: 'admin',
  cancelMany: 'admin',
  retryMany: 'admin',
  deleteMany: 'admin',
  backup: 'admin',
  export: 'admin',
  deleteExport: 'admin',
}
