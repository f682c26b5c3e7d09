/** What a token may allow, and what each operation needs. */
import type { Operation } from '@millrace/core'

/** In the order of their numbers on the wire. */
export const SCOPES = ['enqueue', 'work', 'read', 'admin'] as const

export type Scope = (typeof SCOPES)[number]

/** Any one of them is enough. */
export const SCOPES_OF: Readonly<Record<Operation, readonly Scope[]>> = {
  enqueue: ['enqueue'],
  forward: ['enqueue'],
  flow: ['enqueue'],
  attach: ['work'],
  drain: ['work'],
  leave: ['work'],
  renew: ['work'],
  complete: ['work'],
  fail: ['work'],
  snooze: ['work'],
  giveBack: ['work'],
  heartbeat: ['work'],
  checkpoint: ['work'],
  progress: ['work'],
  log: ['work'],
  parents: ['work'],
  get: ['read'],
  getFlow: ['read'],
  watch: ['read'],
  // Gives up what the connection itself has asked for, whatever that needed.
  unwatch: SCOPES,
  list: ['read'],
  // `queues.purge` counts before it deletes.
  queues: ['read', 'admin'],
  stats: ['read'],
  workers: ['read'],
  subscribe: ['read'],
  events: ['read'],
  exports: ['read'],
  cancel: ['admin'],
  cancelTree: ['admin'],
  retryTree: ['admin'],
  update: ['admin'],
  retry: ['admin'],
  redrive: ['admin'],
  runNow: ['admin'],
  delete: ['admin'],
  configure: ['admin'],
  pause: ['admin'],
  drainQueue: ['admin'],
  deleteQueue: ['admin'],
  stopWorker: ['admin'],
  cancelMany: ['admin'],
  retryMany: ['admin'],
  deleteMany: ['admin'],
  backup: ['admin'],
  export: ['admin'],
  deleteExport: ['admin'],
  getSchedule: ['read'],
  listSchedules: ['read'],
  upsertSchedule: ['admin'],
  deleteSchedule: ['admin'],
  pauseSchedule: ['admin'],
  resumeSchedule: ['admin'],
  triggerSchedule: ['admin'],
  history: ['read'],
  failures: ['read'],
}
