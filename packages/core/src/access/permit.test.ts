import { describe, expect, test } from 'vitest'
import type { ForwardCommand, NewJob, SessionIntro } from '../commands.ts'
import { type Command, OPERATIONS, type Operation, traitsOf } from '../operations.ts'
import { allowsLess, outsideOf, type Permit, permitOption, withForbiddenKeys } from './permit.ts'
import { SCOPES } from './scopes.ts'

describe('a permit as an option', () => {
  const permit = (given: object) => permitOption('token[0].', { scopes: undefined, names: undefined, queues: undefined, ...given })

  test('scopes, all unless stated; names and queues, once each', () => {
    expect(permit({})).toEqual({ scopes: SCOPES })
    expect(permit({ scopes: ['work'], names: ['a', 'b', 'a'], queues: ['x'] })).toEqual({
      scopes: ['work'],
      names: ['a', 'b'],
      queues: ['x'],
    })
  })

  test.each([
    [{ names: 'a' }, 'OPTION_TYPE', 'token[0].names'],
    [{ names: [] }, 'OPTION_RANGE', 'token[0].names'],
    [{ queues: Array(101).fill('x') }, 'OPTION_RANGE', 'token[0].queues'],
    [{ names: ['a b'] }, 'OPTION_TYPE', 'token[0].names[0]'],
    [{ scopes: ['enqueue'], queues: ['x'] }, 'OPTION_TYPE', 'token[0].queues'],
  ])('%j is refused', (given, code, option) => {
    expect(() => permit(given)).toThrow(expect.objectContaining({ code, option }))
  })
})

test.each<[string, Permit, Permit, boolean]>([
  ['the same', { scopes: ['work'], names: ['a'] }, { scopes: ['work'], names: ['a'] }, false],
  ['a scope more', { scopes: ['work'] }, { scopes: ['work', 'read'] }, false],
  ['a scope less', { scopes: ['work', 'read'] }, { scopes: ['work'] }, true],
  ['a name more', { scopes: ['work'], names: ['a'] }, { scopes: ['work'], names: ['b', 'a'] }, false],
  ['a name less', { scopes: ['work'], names: ['a', 'b'] }, { scopes: ['work'], names: ['b'] }, true],
  ['bound to queues', { scopes: ['work'] }, { scopes: ['work'], queues: ['x'] }, true],
  ['bound no more', { scopes: ['work'], queues: ['x'] }, { scopes: ['work'] }, false],
])('%s', (_, before, after, less) => {
  expect(allowsLess(after, before)).toBe(less)
})

describe('what is outside of a permit', () => {
  const attach = (names: readonly string[], queues?: readonly string[]): Command => {
    const handlers = names.map((name) => ({ name, defaults: {} }))
    const who = { uuid: 'u', worker: 'w', host: 'h', pid: 1, local: false }
    const session: SessionIntro = { ...who, handlers, minConcurrency: 1, maxConcurrency: 1, abortGrace: 0, ...(queues && { queues }) }
    return { op: 'attach', session, held: [] }
  }
  const complete = (...enqueues: readonly { readonly name: string; readonly queue?: string }[]): Command => ({
    op: 'complete',
    seq: 1,
    run: 1,
    output: null,
    enqueues: enqueues.map((job) => ({ ...job, data: null })),
  })
  const creating = (keys: Partial<NewJob>): Command =>
    ({ ...complete(), enqueues: [{ name: 'a', queue: 'x', data: null, ...keys }] }) as Command
  const replacing = (onConflict: 'replace' | 'skip') => creating({ unique: { key: 'k', onConflict } })
  const debounced = creating({ debounce: { key: 'k', delay: 1, mode: 'trailing' } })
  const named: Permit = { scopes: ['work'], names: ['a', 'b'] }
  const queued: Permit = { scopes: ['work'], queues: ['x'] }

  test.each<[string, Permit, Command, RegExp]>([
    ['another name', named, attach(['a', 'c']), /serves the job names 'a', 'b' only, not 'c'$/],
    ['another queue', queued, attach(['a'], ['x', 'y']), /serves the queue 'x' only, not 'y'$/],
    ['every queue', queued, attach(['a']), /serves the queue 'x' only, not all of them: name them/],
    ['either', { ...named, ...queued }, attach(['a'], ['y']), /not 'y'/],
    ['a new job of another name', named, complete({ name: 'a' }, { name: 'c' }), /not a new job 'c'/],
    ['a new job in another queue', queued, complete({ name: 'a', queue: 'y' }), /not a new job 'a' in 'y'/],
    [
      'a join that creates a job of another name',
      named,
      { op: 'join', seq: 1, run: 1, name: 'j', jobs: [{ name: 'c', data: null }] },
      /job 'c'/,
    ],
    ['a new job that replaces', queued, replacing('replace'), /that may change one of another queue: use onConflict 'skip'/],
    ['a new job that is debounced', queued, debounced, /that may change one of another queue/],
    ['a pause of a queue', named, { op: 'snooze', seq: 1, run: 1, delay: 1, pause: 'queue' }, /not all of them: pause the name/],
    ['a pause of a key', named, { op: 'snooze', seq: 1, run: 1, delay: 1, pause: 'key' }, /not all of them/],
    ['an operation without an answer', named, { op: 'stats' }, /that is bound to job names or queues cannot call 'stats'/],
    ['an operation of another version', named, { op: 'newest' } as never, /cannot call 'newest'/],
    ['a new job that names no queue', queued, complete({ name: 'a' }), /not a new job 'a' that names no queue/],
  ])('%s', (_, permit, command, message) => {
    expect(outsideOf(permit, command)).toMatch(message)
  })

  test.each<[string, Permit, Command]>([
    ['its own names', named, attach(['b'])],
    ['its own names in any queue', named, attach(['a'], ['y'])],
    ['its own queue, with any name', queued, attach(['c'], ['x'])],
    ['a completion that creates nothing', { ...named, ...queued }, { op: 'complete', seq: 1, run: 1, output: null }],
    ['a new job that replaces one of its own name', named, replacing('replace')],
    ['a new job that changes no other', queued, replacing('skip')],
    ['a pause of its own name', named, { op: 'snooze', seq: 1, run: 1, delay: 1, pause: 'name' }],
    ['a pause within its own queue', queued, { op: 'snooze', seq: 1, run: 1, delay: 1, pause: 'queue' }],
    ['a pause by one who may pause', { ...named, scopes: ['work', 'admin'] }, { op: 'snooze', seq: 1, run: 1, delay: 1, pause: 'queue' }],
    ['a new job within', { ...named, ...queued }, complete({ name: 'b', queue: 'x' })],
    ['a new job of another name, by one who may enqueue', { ...named, scopes: ['enqueue', 'work'] }, complete({ name: 'c' })],
    ['what is of other scopes', { ...named, scopes: SCOPES }, { op: 'deleteMany', filter: { name: 'c' }, limit: 1, dryRun: false }],
    ['anything, where nothing is bound', { scopes: ['work'] }, attach(['c'])],
  ])('%s is within', (_, permit, command) => {
    expect(outsideOf(permit, command)).toBeUndefined()
  })

  test('each operation of the scope work says what it reaches, and the others are not held to a binding', () => {
    const names = Object.keys(OPERATIONS) as Operation[]
    const isOfWork = (op: Operation) => traitsOf(op).scopes.includes('work')
    expect(names.filter((op) => isOfWork(op) && traitsOf(op).reach === undefined)).toEqual([])
    // A message says in its command to which names its sender is bound: only its job's row has the name.
    expect(names.filter((op) => !isOfWork(op) && traitsOf(op).reach !== undefined)).toEqual(['send'])
  })
})

test('a reserved key of a forwarded job refuses its entry alone, unless the token has admin', () => {
  const entry = (...keys: (string | undefined)[]) => ({
    at: 0,
    jobs: keys.map((idempotencyKey): NewJob => ({ name: 'a', data: null, ...(idempotencyKey !== undefined && { idempotencyKey }) })),
  })
  const command: ForwardCommand = {
    op: 'forward',
    source: 'source',
    number: 1,
    first: 5,
    entries: [entry('own'), entry(undefined, 'millrace:a'), entry(undefined), entry('millrace:b')],
  }
  const producer: Permit = { scopes: ['enqueue'] }
  expect(outsideOf(producer, command)).toBeUndefined()
  expect(outsideOf(producer, { op: 'enqueue', jobs: command.entries[3]?.jobs ?? [] })).toMatch(/need the scope 'admin'/)
  const known = { code: 'VALIDATION', message: 'wrong' } as const
  const { unfit } = withForbiddenKeys(producer, { ...command, unfit: new Map([[5, known]]) })
  expect([...(unfit ?? [])].map(([place, { code }]) => [place, code])).toEqual([
    [5, 'VALIDATION'],
    [6, 'FORBIDDEN'],
    [9, 'FORBIDDEN'],
  ])
  expect(withForbiddenKeys({ scopes: ['enqueue', 'admin'] }, command)).toBe(command)
})
