import { describe, expect, test } from 'vitest'
import { before, jobOf } from '../testing/inputs.ts'
import { ASKS, actionsOf, KEYS } from './actions.ts'
import { allFacts, backoffOf, briefFacts } from './facts.ts'
import { whyNotShown } from './whyNotShown.ts'

describe('actions', () => {
  test.each([
    ['waiting', 0, ['cancel', 'delete']],
    ['scheduled', 0, ['run', 'cancel', 'delete']],
    ['scheduled', 1, ['retry', 'cancel', 'delete']],
    ['active', 1, ['cancel']],
    ['blocked', 0, ['cancel', 'delete']],
    ['completed', 1, ['delete']],
    ['failed', 3, ['retry', 'delete']],
    ['cancelled', 0, ['retry', 'delete']],
  ] as const)('of a job that is %s, with %d attempts', (state, attempt, words) => {
    expect(actionsOf(jobOf({ state, attempt })).map(({ word }) => word)).toEqual(words)
  })

  test('what takes something away asks, at least if it comes by a key', () => {
    const states = ['waiting', 'scheduled', 'active', 'blocked', 'completed', 'failed', 'cancelled'] as const
    const words = new Set(states.flatMap((state) => actionsOf(jobOf({ state })).map(({ word }) => word)))
    expect(words).toEqual(new Set(Object.keys(ASKS)))
    const harmless = new Set(['retry', 'run'])
    for (const word of words) expect(ASKS[word] === 'never', word).toBe(harmless.has(word))
    for (const word of Object.keys(KEYS)) expect(ASKS[word as keyof typeof ASKS], word).not.toBe('always')
  })

  test('a job that is being cancelled has none', () => {
    expect(actionsOf(jobOf({ state: 'active', cancelRequested: true }))).toEqual([])
  })

  test('name the job, whatever its id is', () => {
    const [retry, remove] = actionsOf(jobOf({ id: 'a/b', state: 'failed' }))
    expect(retry?.action).toMatchObject({ path: '/v1/jobs/a%2Fb/retry' })
    expect(remove?.action).toMatchObject({ method: 'DELETE', path: '/v1/jobs/a%2Fb' })
  })
})

test('why a payload has no text is what the server says', () => {
  expect(whyNotShown(jobOf(), 'data')).toBe('large')
  expect(whyNotShown(jobOf({ redacted: ['output', 'data'] }), 'data')).toBe('hidden')
  expect(whyNotShown(jobOf({ redacted: ['output'], undecoded: ['data'] }), 'data')).toBe('undecoded')
})

describe('properties', () => {
  const namesOf = (facts: readonly { readonly name: string }[]) => facts.map(({ name }) => name)

  test('that say nothing are left out', () => {
    expect(namesOf(briefFacts(jobOf()))).toEqual(['Queue', 'Enqueued'])
  })

  test('of a job that has failed', () => {
    const job = jobOf({
      ...{ state: 'failed', attempt: 3, run: 3, finishedAt: before(1_000), concurrencyKey: 'acme', tags: ['eu'] },
      summary: 'To Ada',
      attempts: [{ run: 3, attempt: 3, worker: 'w', startedAt: before(1_033), endedAt: before(1_000), logs: [] }],
    })
    expect(briefFacts(job)).toEqual([
      { name: 'Summary', text: 'To Ada' },
      { name: 'Queue', text: 'billing', to: '/queues/billing' },
      { name: 'Attempts', text: '3 of 3', note: 'last took 33 ms' },
      { name: 'Worker', text: 'w' },
      { name: 'Enqueued', at: before(60_000) },
      { name: 'Failed', at: before(1_000) },
      { name: 'Key', text: 'acme', isMono: true },
      { name: 'Tags', tags: ['eu'] },
    ])
  })

  test('of a job that runs again: when it was first due, and its deadline', () => {
    const times = { originalRunAt: before(50_000), startedAt: before(2_000), deadlineAt: before(-298_000) }
    expect(briefFacts(jobOf({ state: 'active', ...times })).slice(-3)).toEqual([
      { name: 'First due', at: times.originalRunAt },
      { name: 'Started', at: times.startedAt },
      { name: 'Deadline', at: times.deadlineAt },
    ])
  })

  test('tell runs that used no attempt, and the job that this one is a copy of', () => {
    const facts = allFacts(jobOf({ attempt: 1, run: 4, meta: { copyOf: 'x' }, weight: 2 }))
    expect(facts).toContainEqual({ name: 'Attempts', text: '1 of 3', note: '4 runs' })
    expect(namesOf(facts)).not.toContain('Kept after its end')
    const keptFor = (keep: number) => allFacts(Object.assign(jobOf({}), { keep })).find(({ name }) => name === 'Kept after its end')?.text
    expect([keptFor(3_600_000), keptFor(3_153_600_000_000)]).toEqual(['1 h', 'forever'])
    expect(facts).toContainEqual({ name: 'Copy of', text: 'x', to: '/jobs/x', isMono: true })
    expect(facts).toContainEqual({ name: 'Priority', text: '0', note: 'Weight 2' })
    expect(facts).toContainEqual({ name: 'Timeout', text: '5 min', note: 'heartbeat 2 min' })
    expect(allFacts(jobOf({ timeout: null } as never))).toContainEqual(expect.objectContaining({ name: 'Timeout', text: 'no limit' }))
  })

  test.each([
    [{ type: 'exponential', delay: 2_000, jitter: 0.2, maxDelay: 3_600_000 }, '2 s × 2, ± 20 %, up to 1 h'],
    [{ type: 'fixed', delay: 60_000, jitter: 'full' }, '1 min, full jitter'],
    [{ type: 'exponential', delay: 500, factor: 3 }, '500 ms × 3'],
    [undefined, '–'],
  ])('a backoff of %j', (backoff, words) => {
    expect(backoffOf(backoff)).toBe(words)
  })
})
