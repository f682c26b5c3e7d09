/** What a token does not allow is refused here, and never reaches the engine. */
import type { CommandOf, Operation } from '@millrace/core'
import { OPERATIONS, SCOPES, type Scope } from '@millrace/core'
import { sessionIntro } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { serve } from './served.ts'

const token = 'a token for the tests'
const id = { seq: 1, node: 1, enqueuedAt: 1 }
const run = { seq: 1, run: 1 }

/** One of each operation, harmless where it is allowed. */
const COMMANDS: { readonly [Op in Operation]: CommandOf<Op> } = {
  enqueue: { op: 'enqueue', jobs: [{ name: 'a', data: null }] },
  forward: { op: 'forward', source: 's', number: 1, first: 1, entries: [] },
  flow: { op: 'flow', nodes: [{ ref: 'a', job: { name: 'a', data: null }, parents: [], onFailure: 'fail' }] },
  parents: { op: 'parents', seq: 1, run: 1 },
  getFlow: { op: 'getFlow', id, limit: 1 },
  listFlows: { op: 'listFlows', limit: 1 },
  cancelTree: { op: 'cancelTree', id },
  retryTree: { op: 'retryTree', id },
  attach: { op: 'attach', session: sessionIntro([]), held: [] },
  adjust: { op: 'adjust', session: 's', minConcurrency: 1, maxConcurrency: 1 },
  drain: { op: 'drain', session: 's' },
  leave: { op: 'leave', session: 's' },
  renew: { op: 'renew', renewal: 1 },
  complete: { op: 'complete', ...run, output: null },
  fail: { op: 'fail', ...run, error: { name: 'E', message: '' } },
  snooze: { op: 'snooze', ...run, delay: 1 },
  join: { op: 'join', ...run, name: 'pages', jobs: [{ name: 'a', data: null }] },
  giveBack: { op: 'giveBack', ...run },
  step: { op: 'step', ...run, number: 1, asked: 1, name: 's', kind: 'step', startedAt: 1, value: null },
  wait: { op: 'wait', ...run, settled: 0, waits: [], end: true },
  recorded: { op: 'recorded', ...run, after: 0 },
  heartbeat: { op: 'heartbeat', ...run },
  checkpoint: { op: 'checkpoint', ...run, value: null },
  progress: { op: 'progress', ...run, fraction: 0 },
  log: { op: 'log', ...run, lines: [] },
  get: { op: 'get', id },
  logs: { op: 'logs', id, limit: 1 },
  steps: { op: 'steps', id, after: 0, limit: 1 },
  explain: { op: 'explain', id },
  watch: { op: 'watch', id },
  unwatch: { op: 'unwatch', request: 99 },
  list: { op: 'list', filter: {}, limit: 1 },
  stats: { op: 'stats' },
  history: { op: 'history', queue: 'a', step: 'hour', from: 0 },
  failures: { op: 'failures', limit: 1 },
  workers: { op: 'workers' },
  queues: { op: 'queues' },
  queueKeys: { op: 'queueKeys', queue: 'a', limit: 1 },
  subscribe: { op: 'subscribe', on: false },
  events: { op: 'events', after: 99, filter: {} },
  export: { op: 'export', name: 'a', upTo: 1, limit: 1 },
  exports: { op: 'exports' },
  deleteExport: { op: 'deleteExport', name: 'a' },
  send: { op: 'send', id, name: 'm', value: '1' },
  cancel: { op: 'cancel', id },
  update: { op: 'update', id, changes: {} },
  retry: { op: 'retry', id },
  redrive: { op: 'redrive', limit: 1 },
  runNow: { op: 'runNow', id },
  delete: { op: 'delete', id },
  byKey: { op: 'byKey', of: { kind: 'unique', name: 'a', key: 'k' }, call: 'release' },
  getByKey: { op: 'getByKey', of: { kind: 'unique', name: 'a', key: 'k' } },
  configure: { op: 'configure', queue: 'a', changes: {} },
  pause: { op: 'pause', queue: 'a', paused: false },
  cancelMany: { op: 'cancelMany', filter: {}, limit: 1, dryRun: true },
  retryMany: { op: 'retryMany', filter: {}, limit: 1, dryRun: true },
  runNowMany: { op: 'runNowMany', filter: {}, limit: 1, dryRun: true },
  updateMany: { op: 'updateMany', filter: {}, limit: 1, dryRun: true, changes: { priority: 1 } },
  deleteMany: { op: 'deleteMany', filter: {}, limit: 1, dryRun: true },
  backup: { op: 'backup', file: '/nowhere/copy.db' },
  getSchedule: { op: 'getSchedule', id: 'a', times: 1 },
  listSchedules: { op: 'listSchedules', prefix: '', limit: 1 },
  upsertSchedule: {
    op: 'upsertSchedule',
    id: 'a',
    spec: { every: 60_000, jitter: 0, overlap: 'skip', catchUp: 'latest' },
    job: { name: 'a', data: null },
    runImmediately: false,
  },
  deleteSchedule: { op: 'deleteSchedule', id: 'a' },
  drainQueue: { op: 'drainQueue', queue: 'a' },
  deleteQueue: { op: 'deleteQueue', queue: 'nowhere' },
  stopWorker: { op: 'stopWorker', worker: 'nobody', timeout: 0 },
  pauseAll: { op: 'pauseAll', paused: false },
  pauseSchedule: { op: 'pauseSchedule', id: 'a' },
  resumeSchedule: { op: 'resumeSchedule', id: 'a' },
  triggerSchedule: { op: 'triggerSchedule', id: 'a' },
}

test.each(SCOPES)('%s alone', async (scope: Scope) => {
  const { probe, engine } = await serve({ listen: { token: [{ token, scopes: [scope] }] } })
  const heard: Operation[] = []
  const { actor } = engine
  const receive = actor.receive.bind(actor)
  actor.receive = (connection, requests) => {
    heard.push(...requests.map(({ command }) => command.op))
    receive(connection, requests)
  }
  const client = await probe({ token })
  heard.splice(0)
  const commands = Object.values(COMMANDS)
  const replies = await client.settle(commands)
  const forbidden = commands.filter((_, index) => replies[index]?.refusal?.code === 'FORBIDDEN').map(({ op }) => op)
  expect(forbidden).toEqual(commands.map(({ op }) => op).filter((op) => !OPERATIONS[op].scopes.includes(scope)))
  const allowed = commands.map(({ op }) => op).filter((op) => OPERATIONS[op].scopes.includes(scope))
  // A renewal goes before every attach.
  expect([...new Set(heard)].toSorted()).toEqual(allowed.toSorted())
})

test('a refusal says what is missing', async () => {
  const { probe } = await serve({ listen: { token: [{ token, scopes: ['enqueue', 'read'] }] } })
  const client = await probe({ token })
  await client.enqueue('a')
  await expect(client.attach(['a'])).rejects.toMatchObject({
    code: 'FORBIDDEN',
    retryable: false,
    message: expect.stringContaining("'work'"),
  })
})
