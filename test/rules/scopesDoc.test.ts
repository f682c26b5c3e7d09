/** What docs/remote.md says that each scope allows is what the code asks for. */
import { readFileSync } from 'node:fs'
import type { Operation } from '@millrace/core'
import { SCOPE_OF, SCOPES } from '@millrace/wire'
import { expect, test } from 'vitest'

/** What a user calls for each; none where the library alone says it, as a part of something else. */
const CALLS: Readonly<Record<Operation, readonly string[]>> = {
  enqueue: ['enqueue', 'enqueueMany'],
  forward: [],
  flow: ['flow', 'batch'],
  attach: ['work'],
  drain: [],
  leave: [],
  renew: [],
  complete: [],
  fail: [],
  snooze: [],
  giveBack: [],
  heartbeat: [],
  checkpoint: [],
  progress: [],
  log: [],
  parents: [],
  get: ['get'],
  watch: ['result'],
  unwatch: [],
  list: ['list'],
  queues: ['queues.list', 'queues.get'],
  stats: ['stats'],
  history: ['history'],
  failures: ['failures'],
  workers: ['workers'],
  subscribe: ['on', 'once'],
  events: ['events'],
  exports: ['exports.list'],
  export: ['exports.read'],
  deleteExport: ['exports.delete'],
  cancel: ['cancel'],
  cancelTree: ['cancel'],
  retryTree: ['retry'],
  update: ['update'],
  retry: ['retry'],
  redrive: ['redrive'],
  runNow: ['runNow'],
  delete: ['delete'],
  cancelMany: ['cancelMany'],
  retryMany: ['retryMany'],
  deleteMany: ['deleteMany', 'queues.purge'],
  configure: ['queues.configure'],
  pause: ['queues.pause', 'queues.resume'],
  drainQueue: ['queues.drain'],
  deleteQueue: ['queues.delete'],
  stopWorker: ['stopWorker'],
  backup: ['backup'],
  getSchedule: ['schedules.get'],
  listSchedules: ['schedules.list'],
  upsertSchedule: ['schedules.upsert'],
  deleteSchedule: ['schedules.delete'],
  pauseSchedule: ['schedules.pause'],
  resumeSchedule: ['schedules.resume'],
  triggerSchedule: ['schedules.trigger'],
}

const text = readFileSync(new URL('../../docs/remote.md', import.meta.url), 'utf8')

test.each(SCOPES)('%s', (scope) => {
  const row = new RegExp(`^\\| \`${scope}\` \\| (.*) \\|$`, 'm').exec(text)?.[1] ?? ''
  const told = [...row.matchAll(/`([\w.]+)(?:\(\))?`/g)].map(([, name]) => name as string)
  const allowed = (Object.keys(CALLS) as Operation[])
    .filter((operation) => SCOPE_OF[operation] === scope)
    .flatMap((operation) => CALLS[operation])
  expect(told.toSorted()).toEqual([...new Set(allowed)].toSorted())
})
