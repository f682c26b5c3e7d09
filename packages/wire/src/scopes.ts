/** What a token may allow, and what each operation needs. */
import type { Operation } from '@millrace/core'

/** In the order of their numbers on the wire. */
export const SCOPES = ['enqueue', 'work', 'read', 'admin'] as const

export type Scope = (typeof SCOPES)[number]

export const SCOPE_OF: Readonly<Record<Operation, Scope>> = {
  enqueue: 'enqueue',
  forward: 'enqueue',
  flow: 'enqueue',
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
  parents: 'work',
  get: 'read',
  watch: 'read',
  unwatch: 'read',
  list: 'read',
  stats: 'read',
  workers: 'read',
  subscribe: 'read',
  cancel: 'admin',
  cancelTree: 'admin',
  retryTree: 'admin',
  update: 'admin',
  retry: 'admin',
  redrive: 'admin',
  runNow: 'admin',
  delete: 'admin',
  backup: 'admin',
}
