/** Numbers that JavaScript does not have, by each door through which JSON of others comes: one rule, one code, the same words. */
import { type Command, checkJsonText, type JobKey, type NewJob, OPERATIONS, type Operation } from '@millrace/core'
import { sessionIntro } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { testApi } from '../../packages/http/src/testing/api.ts'
import { openInThread } from '../../packages/testkit/src/testing/inThread.ts'
import { welcomed } from '../remote/rawClient.ts'
import { serve } from '../remote/served.ts'

const TEXT = '{"id":1234567890123456789}'
const OTHERS = ['1e400', '[-1e999]', `{"a":[${10n ** 23n}]}`, '9007199254740993']
const KEPT = ['1e22', `${10n ** 22n}`, '9007199254740992', '0.12345678901234567890', '"1e400"', '{"1e400":1}']

interface Place {
  readonly seq: number
  readonly run: number
}

/** Each command that carries JSON of its sender's which somebody else reads as data. */
const CARRYING: { readonly [Op in Operation]?: (run: Place, json: string) => readonly Command[] } = {
  enqueue: (_, json) => ofJobs(json).map((jobs) => ({ op: 'enqueue', jobs })),
  flow: (_, json) =>
    ofJobs(json).map((jobs) => ({
      op: 'flow',
      nodes: jobs.map((job, index) => ({ ref: `${index}`, job, parents: [], onFailure: 'fail' as const })),
    })),
  upsertSchedule: (_, json) =>
    ofJobs(json).map(([job]) => ({
      ...{ op: 'upsertSchedule', id: 's', job: job as NewJob, runImmediately: false },
      spec: { every: 60_000, jitter: 0, overlap: 'skip', catchUp: 'latest' },
    })),
  triggerSchedule: (_, meta) => [{ op: 'triggerSchedule', id: 's', meta }],
  update: ({ seq }, json) => changesOf(json).map((changes) => ({ op: 'update', id: { seq, node: 1, enqueuedAt: 1 }, changes })),
  byKey: (_, json) =>
    changesOf(json).map((changes) => ({ op: 'byKey', of: { kind: 'unique', name: 'a', key: 'k' }, call: 'update', changes })),
  updateMany: (_, meta) => [{ op: 'updateMany', filter: { name: 'a' }, limit: 1, dryRun: false, changes: { meta } }],
  complete: (run, json) => [
    { op: 'complete', ...run, output: json },
    ...ofJobs(json).map((enqueues): Command => ({ op: 'complete', ...run, output: null, enqueues })),
  ],
  join: (run, json) => ofJobs(json).map((jobs) => ({ op: 'join', ...run, name: 'j', jobs })),
  checkpoint: (run, value) => [{ op: 'checkpoint', ...run, value }],
  send: ({ seq }, value) => [{ op: 'send', id: { seq, node: 1, enqueuedAt: 1 }, name: 'm', value }],
  step: (run, value) => [{ op: 'step', ...run, number: 1, asked: 1, name: 's', kind: 'step', startedAt: 1, value }],
}

const ofJobs = (json: string): readonly (readonly NewJob[])[] => [[{ name: 'a', data: json }], [{ name: 'a', data: null, meta: json }]]
const changesOf = (json: string) => [{ data: json }, { checkpoint: json }, { meta: json }]

test.each(Object.entries(CARRYING))('%s: such a number is refused by socket, and nothing of it happens', async (_op, commandsOf) => {
  const { url } = await serve()
  const client = await welcomed(url)
  await client.ask({ op: 'attach', session: sessionIntro(['run']), held: [] })
  const { value } = await client.ask({ op: 'enqueue', jobs: [{ name: 'run', data: null }] })
  const [id] = value as readonly [JobKey]
  for (const command of commandsOf({ seq: id.seq, run: 1 }, TEXT)) {
    const { refusal } = await client.ask(command)
    expect(refusal).toMatchObject({ code: 'OPTION_RANGE', details: { limit: Number.MAX_SAFE_INTEGER } })
    const option = refusal?.details?.['option'] as string
    expect(() => checkJsonText(option, TEXT)).toThrow(refusal?.message)
  }
  expect((await client.ask({ op: 'get', id })).value).toMatchObject({ state: 'active', output: null, checkpoint: null })
  expect((await client.ask({ op: 'list', filter: { name: 'a' }, limit: 9 })).value).toMatchObject({ jobs: [] })
})

test('each command with new jobs or payloads is among them', () => {
  const carrying = (Object.keys(OPERATIONS) as Operation[]).filter((op) => 'newJobs' in OPERATIONS[op] || 'payloads' in OPERATIONS[op])
  expect(carrying.filter((op) => CARRYING[op] === undefined)).toEqual(['forward'])
})

test('of a journal, such an entry is refused, and no other', async () => {
  const { url, clock } = await serve()
  const client = await welcomed(url)
  const at = clock.read().wall
  const entries = [TEXT, '1'].map((data) => ({ at, jobs: [{ name: 'a', data }] }))
  const forward = (first: number, some: typeof entries): Command => ({ op: 'forward', source: 's', number: 9, first, entries: some })
  expect((await client.ask(forward(1, entries))).value).toMatchObject({ mark: 0, refused: { place: 1, refusal: { code: 'OPTION_RANGE' } } })
  expect((await client.ask(forward(2, entries.slice(1)))).value).toMatchObject({ mark: 2 })
})

test('by socket and over HTTP the same numbers are refused, and the same are taken', async () => {
  const { url } = await serve()
  const client = await welcomed(url)
  const engine = openInThread()
  onTestFinished(() => engine.stop())
  const http = testApi(engine)
  for (const json of [TEXT, ...OTHERS, ...KEPT]) {
    const { refusal } = await client.ask({ op: 'enqueue', jobs: [{ name: 'a', data: json }] })
    const raw = `{"job":"a","data":${json}}`
    const { body } = await http.send('POST', '/v1/jobs', { raw, headers: { 'content-type': 'application/json' } })
    const code = KEPT.includes(json) ? undefined : 'OPTION_RANGE'
    expect([json, refusal?.code, body.code]).toEqual([json, code, code])
  }
})
