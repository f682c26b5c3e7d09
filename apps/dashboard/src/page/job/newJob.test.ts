import { describe, expect, test } from 'vitest'
import { ApiError } from '../api/problem.ts'
import { jobOf } from '../testing/inputs.ts'
import { copyOf, type Draft, draftOf, faultsOf, refusalsOf, requestOf } from './newJob.ts'

const data = (text: string, more = {}) => jobOf({ preview: { data: { bytes: text.length, text, ...more } } })
const sourceOf = (draft: ReturnType<typeof copyOf>) => ('fields' in draft ? draft.fields.data : draft.refusal)
const sent = (draft: Draft, fields: Partial<Draft['fields']> = {}) => JSON.parse(requestOf(draft, { ...draft.fields, ...fields }).text)

describe('a new job', () => {
  test('has what was typed, and no option of an empty field', () => {
    const draft = draftOf({ queue: 'mail' })
    expect(sent(draft, { job: ' send ', queue: 'mail' })).toEqual({ job: 'send', options: { queue: 'mail' } })
    const fields = { job: 'send', data: '[1]', delay: '10m', priority: '-5', concurrencyKey: 'acme', tags: 'eu, ,us', timeout: 'none' }
    expect(sent(draftOf({}), { ...fields, maxAttempts: 'many' })).toEqual({
      job: 'send',
      data: [1],
      // Ranges and types are the engine's to check: it says at which field they are wrong.
      options: { delay: '10m', priority: -5, concurrencyKey: 'acme', tags: ['eu', 'us'], timeout: null, maxAttempts: 'many' },
    })
  })

  test('what is no JSON is not sent; what the engine refuses stands at its field', () => {
    const { fields } = draftOf({})
    expect([faultsOf({ ...fields, data: '{"a":1}' }), faultsOf({ ...fields, data: ' ' })]).toEqual([{}, {}])
    expect(faultsOf({ ...fields, data: '{a}' }).data).toMatch(/^This is not JSON: /)
    const faults = [
      { path: 'body.job', message: 'is empty' },
      { path: 'body.options.tags.3', message: 'is long' },
      { path: 'body.options.weight', message: 'has no field' },
    ]
    expect(refusalsOf(new ApiError(400, 'VALIDATION', 'no', undefined, faults))).toEqual({ job: 'is empty', tags: 'is long' })
  })
})

describe('a copy', () => {
  test('keeps numbers as they are written', () => {
    expect(sourceOf(copyOf(data('{"id":9007199254740993,"a":[]}')))).toBe('{\n  "id": 9007199254740993,\n  "a": []\n}')
    expect(sourceOf(copyOf(jobOf()))).toBe('')
  })

  test.each([
    ['bytes', data('QUJD', { binary: true })],
    ['a part', data('{"a":', { cut: true })],
    ['hidden', { ...data('{"a":"[redacted]"}'), redacted: ['data' as const] }],
    ['hidden and cut', { ...data('{"a":"[redacted]"', { cut: true }), redacted: ['data' as const] }],
    ['absent', jobOf({ preview: { data: { bytes: 9 } } })],
  ])('is refused if the data is %s', (_, job) => {
    expect(copyOf(job)).toHaveProperty('refusal')
  })

  test('shows signs that turn the direction as JSON writes them, which is the same data', () => {
    const source = sourceOf(copyOf(data('["x\u202egnp.exe"]')))
    expect(source).toContain(String.raw`"x\u202egnp.exe"`)
    expect(JSON.parse(source)).toEqual(['x\u202egnp.exe'])
  })

  test('has the data as it is, if the server says of none that it is hidden', () => {
    expect(sourceOf(copyOf(data('["[redacted]"]')))).toBe('[\n  "[redacted]"\n]')
  })

  test('of a scheduled job is due at its time, unless that is edited', () => {
    const runAt = '2025-11-23T05:00:00.000Z'
    const draft = copyOf(jobOf({ state: 'scheduled', runAt })) as Draft
    expect([draft.fields.delay, sent(draft).options.runAt]).toEqual([runAt, runAt])
    expect(sent(draft, { delay: '10m' }).options).toMatchObject({ delay: '10m' })
    expect(sent(draft, { delay: '10m' }).options).not.toHaveProperty('runAt')
    expect(sent(draft, { delay: '' }).options).not.toHaveProperty('runAt')
    expect(sent(draft, { delay: '2025-11-24T05:00:00Z' }).options).toMatchObject({ runAt: '2025-11-24T05:00:00Z' })
    for (const other of [jobOf({ state: 'scheduled', runAt, run: 1, attempt: 1 }), jobOf({ runAt })])
      expect(sent(copyOf(other) as Draft).options).not.toHaveProperty('runAt')
    const fault = { path: 'body.options.runAt', message: 'is no time' }
    expect(refusalsOf(new ApiError(400, 'VALIDATION', 'no', undefined, [fault]))).toEqual({ delay: 'is no time' })
  })

  test('keeps tags with commas and quotation marks as they are when others are edited', () => {
    const tags = ['eu, south', 'a "b"', 'c\\', 'plain', '"', ' x ']
    const draft = copyOf(jobOf({ tags })) as Draft
    expect(sent(draft, { tags: `${draft.fields.tags}, new` }).options.tags).toEqual([...tags, 'new'])
  })

  test('has the options of the job but for those that were edited, what was typed, and says of what it is a copy', () => {
    const known = {
      tags: ['eu, south'],
      meta: { trace: 't' },
      timeout: null,
      maxAge: null,
      weight: 3,
      idempotencyKey: 'k',
      uniqueKey: 'u',
      summary: 'To Ada',
    }
    const job = jobOf(known as never)
    const draft = copyOf(job) as Draft
    expect(draft.fields).toMatchObject({ job: 'charge', queue: 'billing', tags: '"eu, south"', timeout: 'none' })
    const { text } = requestOf(draft, { ...draft.fields, data: '{"id": 9007199254740993}', priority: '7', queue: '' })
    expect(text).toContain('"data":{"id": 9007199254740993}')
    const { options } = JSON.parse(text)
    expect(options).toMatchObject({
      tags: ['eu, south'],
      timeout: null,
      weight: 3,
      priority: 7,
      summary: 'To Ada',
      meta: { trace: 't', copyOf: job.id },
    })
    for (const name of ['idempotencyKey', 'queue', 'maxAge']) expect(options).not.toHaveProperty(name)
    expect(sent(draft, { data: '  ' })).not.toHaveProperty('data')
  })
})
