/** `engine.steps`: the answer as callers see it, and what cannot be decoded. */
import { formatId, type JobStepsPage, type StepResult } from '@millrace/core'
import { expect, test } from 'vitest'
import type { Mailbox } from './mailbox.ts'
import { PayloadCodec } from './payloadCodec.ts'
import { readSteps } from './steps.ts'

const key = { seq: 1, node: 2, enqueuedAt: 3 }
const id = formatId(key)
const RESULT: StepResult = { number: 1, asked: 1, name: 's', kind: 'step', run: 1, startedAt: 10, endedAt: 20, value: '{"a":1}' }
const SHOWN = { number: 1, name: 's', kind: 'step', run: 1, startedAt: new Date(10), endedAt: new Date(20), value: { a: 1 } }

function answering(page: Partial<JobStepsPage> | null) {
  const asked: unknown[] = []
  const call = (async (command: unknown) => {
    asked.push(command)
    return page && { results: [], waits: [], messages: [], kept: 0, next: null, ...page }
  }) as unknown as Mailbox['call']
  return { asked, calls: { call } }
}

const steps = (page: Partial<JobStepsPage> | null, codec?: PayloadCodec) =>
  readSteps(answering(page).calls, id, { after: 0, limit: 100 }, codec)

test('a page is asked for as it is wanted, and has dates and values', async () => {
  const error = { name: 'E', message: 'm' }
  const results = [RESULT, { ...RESULT, number: 2, value: null, error }, { ...RESULT, number: 3, value: new Uint8Array([7]) }]
  const { asked, calls } = answering({
    results,
    waits: [
      { name: 'w', asked: 3, since: 5, until: 50 },
      { name: 'v', asked: 3, since: 5, message: 'm' },
    ],
    next: 3,
  })
  expect(await readSteps(calls, id, { after: 4, limit: 3 }, undefined)).toEqual({
    steps: [SHOWN, { ...SHOWN, number: 2, value: undefined, error }, { ...SHOWN, number: 3, value: new Uint8Array([7]) }],
    waits: [
      { name: 'w', since: new Date(5), until: new Date(50) },
      { name: 'v', since: new Date(5), message: 'm' },
    ],
    messages: [],
    kept: 0,
    next: 3,
  })
  expect(asked).toEqual([{ op: 'steps', id: key, after: 4, limit: 3 }])
})

test('a job without any has none, and no job is an error', async () => {
  expect(await steps({})).toEqual({ steps: [], waits: [], messages: [], kept: 0, next: undefined })
  await expect(steps(null)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: id })
  await expect(readSteps(answering(null).calls, 'no id', { after: 0, limit: 1 }, undefined)).rejects.toMatchObject({
    code: 'JOB_NOT_FOUND',
  })
})

test('one value that cannot be decoded hides no other', async () => {
  const results = [RESULT, { ...RESULT, number: 2, value: 'no JSON' }]
  expect((await steps({ results })).steps).toEqual([SHOWN, { ...SHOWN, number: 2, value: 'no JSON', undecoded: true }])
  const refuses = () => {
    throw new Error('no key')
  }
  const codec = new PayloadCodec({ encode: (bytes) => bytes, decode: refuses }, 1_000)
  const sealed = new Uint8Array([0, 1])
  expect((await steps({ results: [RESULT, { ...RESULT, value: sealed }] }, codec)).steps).toEqual([
    SHOWN,
    { ...SHOWN, value: sealed, undecoded: true },
  ])
})

test('values are decoded', async () => {
  const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)
  const codec = new PayloadCodec({ encode: flip, decode: flip }, 1_000)
  const value = codec.encode('step', RESULT.value)
  expect((await steps({ results: [{ ...RESULT, value }] }, codec)).steps).toEqual([SHOWN])
})

test('messages have their values, decoded where that is possible', async () => {
  const messages = [
    { number: 1, name: 'm', at: 7, value: '{"a":1}', by: 'ops' },
    { number: 2, name: 'm', at: 8, value: 'no JSON' },
  ]
  expect(await steps({ messages, kept: 9 })).toMatchObject({
    kept: 9,
    messages: [
      { number: 1, name: 'm', at: new Date(7), value: { a: 1 }, by: 'ops' },
      { number: 2, name: 'm', at: new Date(8), value: 'no JSON', undecoded: true },
    ],
  })
})
