import type { JobView } from '@millrace/core'
import { expect, test } from 'vitest'
import { bareJob as bare } from './testing/bareJob.ts'
import { engineEventOf, jobOf } from './view.ts'

test('what was never set is undefined; dates are dates', () => {
  expect(jobOf(bare)).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    enqueuedAt: new Date(1_000),
    runAt: new Date(2_000),
    timeout: Number.POSITIVE_INFINITY,
    meta: {},
    tags: [],
    attempts: [],
  })
  for (const field of [
    'data',
    'output',
    'checkpoint',
    'progress',
    'progressNote',
    'progressValue',
    'startedAt',
    'finishedAt',
    'expiresAt',
    'idempotencyKey',
    'uniqueKey',
    'concurrencyKey',
  ] as const)
    expect(jobOf(bare)[field], field).toBeUndefined()
})

test('what was set comes back as it was', () => {
  const view: JobView = {
    ...bare,
    data: '{"n":1}',
    output: Uint8Array.of(1),
    checkpoint: 'null',
    progress: '[0.5,"half","{\\"rows\\":7}"]',
    meta: '{"by":"me"}',
    uniqueKey: 'k',
    startedAt: 3_000,
    attempts: [
      {
        run: 2,
        attempt: 1,
        startedAt: 0,
        endedAt: 4_000,
        worker: 'w',
        error: { name: 'E', message: 'm' },
        logs: [
          { at: 3_500, level: 'info', message: 'hello', fields: '{"n":1}' },
          { at: 3_600, level: 'warn', message: 'cut', fields: '{"text":"xx' },
          { at: 3_700, level: 'debug', message: 'bare' },
        ],
      },
      { run: 3, attempt: 2, startedAt: 5_000, endedAt: 0, worker: 'w', logs: [] },
    ],
  }
  const job = jobOf(view)
  expect(job).toMatchObject({
    data: { n: 1 },
    output: Uint8Array.of(1),
    checkpoint: null,
    progress: 0.5,
    progressNote: 'half',
    progressValue: { rows: 7 },
    meta: { by: 'me' },
    uniqueKey: 'k',
    startedAt: new Date(3_000),
  })
  expect(job.attempts).toEqual([
    {
      run: 2,
      attempt: 1,
      startedAt: undefined,
      endedAt: new Date(4_000),
      worker: 'w',
      error: { name: 'E', message: 'm' },
      logs: [
        { at: new Date(3_500), level: 'info', message: 'hello', fields: { n: 1 } },
        { at: new Date(3_600), level: 'warn', message: 'cut', fields: { truncated: '{"text":"xx' } },
        { at: new Date(3_700), level: 'debug', message: 'bare' },
      ],
    },
    { run: 3, attempt: 2, startedAt: new Date(5_000), endedAt: undefined, worker: 'w', logs: [] },
  ])
})

test('a job that somebody has broken is shown as it is stored', () => {
  const job = jobOf({ ...bare, data: '{half', output: '{"whole":1}', progress: '5', meta: 'no' })
  expect(job).toMatchObject({ data: '{half', output: { whole: 1 }, progress: undefined, meta: 'no' })
})

test('events: only what belongs to their type', () => {
  const event = {
    seq: 9,
    type: 'retrying',
    jobSeq: 7,
    node: 1,
    enqueuedAt: 1_000,
    queue: 'q',
    name: 'a',
    at: 5_000,
    run: 1,
    attempt: 1,
  } as const
  expect(engineEventOf({ ...event, error: 'TypeError', runAt: 6_000 })).toEqual({
    seq: 9,
    type: 'retrying',
    jobId: jobOf(bare).id,
    queue: 'q',
    name: 'a',
    at: new Date(5_000),
    run: 1,
    attempt: 1,
    error: 'TypeError',
    runAt: new Date(6_000),
  })
  expect(engineEventOf({ ...event, type: 'progress', fraction: 0 })).toMatchObject({ progress: 0 })
  expect(engineEventOf(event)).not.toHaveProperty('error')
})
