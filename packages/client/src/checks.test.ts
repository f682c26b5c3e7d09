import type { Command, NewJob } from '@millrace/core'
import { defineJob } from '@millrace/worker'
import { expect, test } from 'vitest'
import { JobChecks } from './checks.ts'

/** Takes objects with a `to`. */
const validate = (value: unknown) =>
  typeof value === 'object' && value !== null && 'to' in value ? { value } : { issues: [{ message: 'is missing', path: ['to'] }] }
const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const
const slow = { '~standard': { version: 1, vendor: 'test', validate: async () => ({ issues: [{ message: 'is late' }] }) } } as const

const checks = new JobChecks()
checks.add([defineJob({ name: 'mail', schema }), defineJob({ name: 'slow', schema: slow }), defineJob({ name: 'free' })])

const good: NewJob = { name: 'mail', data: '{"to":"a"}' }
const bad: NewJob = { name: 'mail', data: '{}' }
const flowOf = (...jobs: readonly NewJob[]): Command => ({
  op: 'flow',
  nodes: jobs.map((job, index) => ({ ref: `${index}`, job, parents: [], onFailure: 'fail' as never })),
})
const scheduleOf = (job: NewJob) => ({ op: 'upsertSchedule', id: 's', spec: {}, job, runImmediately: false }) as unknown as Command

test.each<[string, Command, string]>([
  ['one', { op: 'enqueue', jobs: [bad] }, "the data of job 'mail' does not satisfy its schema at to: is missing"],
  ['one of many, by its place', { op: 'enqueue', jobs: [good, bad, bad] }, "jobs[1]: the data of job 'mail'"],
  ['none at all', { op: 'enqueue', jobs: [{ name: 'mail', data: null }] }, 'is missing'],
  ['a node of a flow', flowOf(good, good, bad), 'jobs[2]: '],
  ['that of a schedule', scheduleOf(bad), 'is missing'],
])('refused: %s', (_what, command, message) => {
  for (const sender of ['own', 'other'] as const) {
    const refusal = checks.refusalOf(command, sender)
    expect(refusal).toMatchObject({ code: 'VALIDATION', details: { issues: [{ message: 'is missing', path: ['to'] }] } })
    expect(refusal?.message).toContain(message)
  }
})

test.each<[string, Command]>([
  ['good data', { op: 'enqueue', jobs: [good, good] }],
  [
    'names without a schema, and unknown ones',
    {
      op: 'enqueue',
      jobs: [
        { ...bad, name: 'free' },
        { ...bad, name: 'other' },
      ],
    },
  ],
  ['a schema that takes its time', { op: 'enqueue', jobs: [{ ...bad, name: 'slow' }] }],
  ['a forward: its entries are refused one by one', { op: 'forward', entries: [{ at: 0, jobs: [bad] }] } as unknown as Command],
  ['what creates nothing', { op: 'stats' }],
])('let in: %s', (_what, command) => {
  expect(checks.refusalOf(command, 'own')).toBeUndefined()
  expect(checks.refusalOf(command, 'other')).toBeUndefined()
})

test('bytes of others may be encoded: they are looked at when they are run, one’s own at once', () => {
  const command: Command = { op: 'enqueue', jobs: [{ name: 'mail', data: new Uint8Array([1]) }] }
  expect(checks.refusalOf(command, 'own')).toMatchObject({ code: 'VALIDATION' })
  expect(checks.refusalOf(command, 'other')).toBeUndefined()
})

test('entries of a journal or an outbox that do not fit are named by the place of their first job', () => {
  const forward = (...entries: readonly (readonly NewJob[])[]) =>
    ({ op: 'forward', source: 's', number: 1, first: 7, entries: entries.map((jobs) => ({ at: 0, jobs })) }) as const satisfies Command
  const encoded: NewJob = { name: 'mail', data: new Uint8Array([1]) }
  const fitting = forward([good], [encoded], [{ ...bad, name: 'free' }])
  expect(checks.checked(fitting)).toBe(fitting)
  const mixed = forward([good], [good, bad], [good], [bad])
  expect(checks.checked(mixed)).toEqual({
    ...mixed,
    unfit: new Map([
      [8, expect.objectContaining({ code: 'VALIDATION', message: expect.stringMatching(/^jobs\[1\]: the data of job 'mail'/) })],
      [11, expect.objectContaining({ code: 'VALIDATION', message: expect.stringMatching(/^the data of job 'mail'/) })],
    ]),
  })
})
