import { describe, expect, test } from 'vitest'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { SEQ_LIMIT } from '../id.ts'
import { FAILED, STATES } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import { DEFAULT_RETENTION } from '../retention.ts'
import { backoffOption } from './backoff.ts'
import { decodeData, encodeData } from './data.ts'
import { validateDefinition } from './definition.ts'
import { checkCommandSize, newJobFrom } from './enqueue.ts'
import { formatFlowCursor, validateFlowGetOptions } from './flowGet.ts'
import { validateFlowListOptions } from './flowList.ts'
import { JOB_TEXT_NAMES, JOB_TEXTS } from './jobTexts.ts'
import { formatCursor, validateListOptions } from './list.ts'
import { validateMany } from './many.ts'
import { durationOption, timeOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { validateOpenOptions, validatePostgresOptions } from './open.ts'
import { validateQueueOptions } from './queue.ts'
import { validateResultOptions } from './result.ts'
import { validateThreadOptions } from './thread.ts'
import { validateUpdateOptions } from './update.ts'
import { utf8Bytes } from './utf8.ts'
import { validateStopOptions, validateWorkOptions } from './work.ts'

const thrownBy = (call: () => unknown): unknown => {
  try {
    return call()
  } catch (error) {
    return error
  }
}
const enqueue = (options: object) => newJobFrom('n', null, options, undefined)
const TIER = { perKeyLimit: 1 }
const PG = 'postgres://u@h/d'

describe.each(JOB_TEXT_NAMES)('the text %s', (text) => {
  const { max } = JOB_TEXTS[text].kind

  test('is kept as it is', () => {
    const given = `É 😀\n${'x'.repeat(max - 5)}`
    expect(enqueue({ [text]: given })).toEqual({ name: 'n', data: null, [text]: given })
  })

  test.each([
    ['empty', '', /^\w+ must have 1 to \d+ characters, got 0/],
    ['too long', 'x'.repeat(max + 1), new RegExp(`1 to ${max} characters, got ${max + 1}`)],
    ['no string', 7, /must be a string, got 7/],
    ['null', null, /must be a string, got null/],
    ['half of a character', 'a\ud800', /surrogate/],
  ])('is refused if it is %s', (_, given, message) => {
    expect(() => enqueue({ [text]: given })).toThrow(message)
  })
})

describe('a wrong option is refused by name, and never clamped', () => {
  test.each<[string, () => unknown, string]>([
    ['priorty', () => enqueue({ priorty: 1 }), "did you mean 'priority'?"],
    ['concurency', () => validateWorkOptions({ concurency: 1 }), "did you mean 'concurrency'?"],
    ['durabilty', () => validateOpenOptions({ file: 'f', durabilty: 'full' }), "did you mean 'durability'?"],
    ['file', () => validatePostgresOptions({ postgres: PG, file: 'f' }), 'exclude each other'],
    ['postgres', () => validatePostgresOptions({ postgres: 'mysql://u:secret@h/d' }), 'a URL such as postgres://'],
    ['postgres', () => validatePostgresOptions({ postgres: 5 }), 'got 5'],
    ['schema', () => validatePostgresOptions({ postgres: PG, schema: 'Upper' }), 'lower-case letters, digits and underscores'],
    ['schema', () => validatePostgresOptions({ postgres: PG, schema: 'pg_own' }), 'must not begin with a digit or pg_'],
    ['schema', () => validatePostgresOptions({ postgres: PG, schema: 'a"; DROP' }), 'lower-case letters'],
    ['schema', () => validatePostgresOptions({ postgres: PG, schema: 'x'.repeat(64) }), '1 to 63'],
    ['role', () => validatePostgresOptions({ postgres: PG, role: 'ownr' }), "did you mean 'owner'?"],
    ['listen', () => validatePostgresOptions({ postgres: PG, listen: 'a b' }), 'a host or host:port'],
    ['listen', () => validatePostgresOptions({ postgres: PG, listen: '10.0.0.5:70000' }), 'a host or host:port'],
    ['listen', () => validatePostgresOptions({ postgres: PG, listen: '::1' }), 'a host or host:port'],
    ['cache', () => validatePostgresOptions({ postgres: PG, cache: 5 }), "openEngine has no option 'cache'"],
    ['zzzzzzzzzzzz', () => validateStopOptions({ zzzzzzzzzzzz: 1 }), 'it accepts timeout'],
    ['options', () => validateListOptions('media'), 'an object'],
    ['options', () => validateListOptions(null), 'null'],
    ['priority', () => enqueue({ priority: '1' }), 'whole number'],
    ['priority', () => enqueue({ priority: 1.5 }), 'whole number'],
    ['priority', () => enqueue({ priority: Number.NaN }), 'whole number'],
    ['weight', () => enqueue({ weight: null }), 'null'],
    ['delay', () => enqueue({ delay: '5 fortnights' }), "'5m'"],
    ['delay', () => enqueue({ delay: '500' }), 'milliseconds: 500'],
    ['delay', () => enqueue({ delay: 'forever' }), "'5m' or { minutes: 5 }, got"],
    ['keep', () => enqueue({ keep: 'for ever' }), "{ minutes: 5 } or 'forever', got"],
    ['keep', () => enqueue({ keep: { count: 5 } }), 'must be a duration'],
    ['runAt', () => enqueue({ delay: 1, runAt: 1 }), 'exclude each other'],
    ['runAt', () => enqueue({ runAt: new Date(Number.NaN) }), 'invalid Date'],
    ['idempotencyTtl', () => enqueue({ idempotencyTtl: 1 }), 'needs an idempotencyKey'],
    ['unique.onConflict', () => enqueue({ unique: { key: 'k', onConflict: 'skp' } }), "did you mean 'skip'?"],
    ['options', () => enqueue({ debounce: 'k' }), 'the options of debounce must be an object'],
    ['debounce.key', () => enqueue({ debounce: { delay: 1 } }), 'must be a string'],
    ['debounce.delay', () => enqueue({ debounce: { key: 'k' } }), 'a duration'],
    ['debounce.mode', () => enqueue({ debounce: { key: 'k', delay: 1, mode: 'trailling' } }), "did you mean 'trailing'?"],
    ['period', () => enqueue({ debounce: { key: 'k', period: 1 } }), 'it accepts key, delay, mode, maxDelay'],
    ['throttle', () => enqueue({ debounce: { key: 'k', delay: 1 }, throttle: { key: 'k', period: 1 } }), 'exclude each other'],
    ['unique.by', () => enqueue({ unique: { key: 'k', by: 'data' } }), 'exclude each other'],
    ['unique.key', () => enqueue({ unique: { onConflict: 'skip' } }), "or by: 'data' or ['customer']"],
    ['unique', () => enqueue({ debounce: { key: 'k', delay: 1 }, unique: { key: 'k' } }), 'exclude each other'],
    ['idempotencyKey', () => enqueue({ debounce: { key: 'k', delay: 1 }, idempotencyKey: 'k' }), 'exclude each other'],
    ['delay', () => enqueue({ debounce: { key: 'k', delay: 1 }, delay: 1 }), 'exclude each other'],
    ['runAt', () => enqueue({ debounce: { key: 'k', delay: 1, mode: 'leading' }, runAt: 1 }), 'exclude each other'],
    ['limit', () => enqueue({ throttle: { key: 'k', limit: 1 } }), 'it accepts key, period'],
    ['unique', () => enqueue({ throttle: { key: 'k', period: 1 }, unique: { key: 'k' } }), 'exclude each other'],
    ['idempotencyKey', () => enqueue({ throttle: { key: 'k', period: 1 }, idempotencyKey: 'k' }), 'exclude each other'],
    ['tags[1]', () => enqueue({ tags: ['a', 1] }), 'string'],
    ['idempotencyKey', () => enqueue({ idempotencyKey: 'a\ud800' }), 'surrogate'],
    ['backoff', () => enqueue({ backoff: () => 1 }), 'defineJob'],
    ['backoff.factor', () => backoffOption('backoff', { type: 'fixed', delay: 1, factor: 2 }), 'exponential'],
    ['concurrency', () => validateWorkOptions({ concurrency: 1, maxConcurrency: 2 }), 'alone'],
    ['sharedLimit.name', () => validateQueueOptions({ sharedLimit: { limit: 1 } }), 'must be a string'],
    ['options', () => validateQueueOptions({ sharedLimit: 'smtp' }), 'the options of sharedLimit'],
    ['keyTiers', () => validateQueueOptions({ keyTiers: [] }), 'must be an object with a tier for each name'],
    ['keyTiers', () => validateQueueOptions({ keyTiers: { 'a:b': TIER } }), 'has no colon'],
    ['keyTiers', () => validateQueueOptions({ keyTiers: { constructor: TIER } }), 'another name'],
    ['keyTiers.gold', () => validateQueueOptions({ keyTiers: { gold: {} } }), 'changes nothing'],
    ['limit', () => validateQueueOptions({ keyTiers: { gold: { limit: 3 } } }), 'perKeyLimit'],
    ['order', () => validateWorkOptions({ order: 'strict' }), 'name them in queues'],
    ['queues[1]', () => validateWorkOptions({ queues: ['a*', '*b'] }), "it stands for any rest of a name, as in 'mail-*'"],
    ['queues[0]', () => validateWorkOptions({ queues: ['a b*'] }), 'allowed are'],
    ['queues[0]', () => validateWorkOptions({ queues: ['a**'] }), 'before its end'],
    ['order', () => validateWorkOptions({ order: 'stric', queues: ['a'] }), "did you mean 'strict'?"],
    ['schema', () => validateDefinition({ name: 'n', schema: {} }), 'Standard Schema'],
    ['after', () => validateListOptions({ after: '../etc' }), 'earlier page'],
    ['changes', () => validateUpdateOptions({}, 1), 'at least one'],
    ['signal', () => validateResultOptions({ signal: {} }), 'AbortSignal'],
    ['logger', () => validateOpenOptions({ file: 'f', logger: { info() {} } }), 'without debug'],
    ['file', () => validateOpenOptions({ file: '' }), ':memory:'],
    ['file', () => validateOpenOptions({ file: 'a\0b' }), 'position 1'],
    ['env', () => validateThreadOptions({ env: { A: 1 } }), 'object of strings'],
  ])('%s is an OptionTypeError', (option, call, hint) => {
    const error = thrownBy(call)
    expect(error).toBeInstanceOf(OptionTypeError)
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ option, code: 'OPTION_TYPE', message: expect.stringContaining(hint) })
  })

  test.each<[string, number, () => unknown]>([
    ['priority', LIMITS.priority, () => enqueue({ priority: LIMITS.priority + 1 })],
    ['priority', -LIMITS.priority, () => enqueue({ priority: Number.NEGATIVE_INFINITY })],
    ['weight', 1, () => enqueue({ weight: 0 })],
    ['maxAttempts', 1, () => enqueue({ maxAttempts: 0 })],
    ['maxLost', 0, () => enqueue({ maxLost: -1 })],
    ['logLines', 0, () => enqueue({ logLines: -1 })],
    ['logLines', LIMITS.logLinesKept, () => enqueue({ logLines: LIMITS.logLinesKept + 1 })],
    ['maxLost', LIMITS.maxAttempts, () => enqueue({ maxLost: LIMITS.maxAttempts + 1 })],
    ['maxAge', 1, () => enqueue({ maxAge: 0 })],
    ['keep', 0, () => enqueue({ keep: -1 })],
    ['keep', LIMITS.durationMs, () => enqueue({ keep: Number.POSITIVE_INFINITY })],
    ['maxAge', LIMITS.durationMs, () => enqueue({ maxAge: Number.POSITIVE_INFINITY })],
    ['delay', 0, () => enqueue({ delay: -1 })],
    ['delay', LIMITS.durationMs, () => enqueue({ delay: Number.POSITIVE_INFINITY })],
    ['timeout', 1, () => enqueue({ timeout: 0 })],
    ['heartbeatTimeout', LIMITS.durationMs, () => enqueue({ heartbeatTimeout: Number.POSITIVE_INFINITY })],
    ['backoff.jitter', 1, () => enqueue({ backoff: { type: 'fixed', delay: 1, jitter: 1.1 } })],
    ['backoff.factor', 1, () => enqueue({ backoff: { type: 'exponential', delay: 1, factor: 0.5 } })],
    ['queue', LIMITS.nameLength, () => enqueue({ queue: 'q'.repeat(129) })],
    ['idempotencyKey', LIMITS.keyLength, () => enqueue({ idempotencyKey: '' })],
    ['tags', LIMITS.tagsPerJob, () => enqueue({ tags: Array.from({ length: 33 }, (_, index) => `t${index}`) })],
    ['meta', LIMITS.metaBytes, () => enqueue({ meta: { text: 'é'.repeat(LIMITS.metaBytes / 2) } })],
    ['minConcurrency', 2, () => validateWorkOptions({ minConcurrency: 3, maxConcurrency: 2 })],
    ['queues', 1, () => validateWorkOptions({ queues: [] })],
    ['keyTiers', 100, () => validateQueueOptions({ keyTiers: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, TIER])) })],
    ['keyTiers.gold.perKeyLimit', 1, () => validateQueueOptions({ keyTiers: { gold: { perKeyLimit: 0 } } })],
    ['perKeyLimit', 1, () => validateQueueOptions({ keyOrder: 'strict', keyTiers: { gold: { perKeyLimit: 2 } } })],
    ['readers', 8, () => validateOpenOptions({ file: 'f', readers: 9 })],
    ['limit', LIMITS.pageJobs, () => validateListOptions({ limit: 201 })],
    ['threads', 1, () => validateThreadOptions({ threads: 0 })],
    ['resourceLimits.maxOldGenerationSizeMb', 16, () => validateThreadOptions({ resourceLimits: { maxOldGenerationSizeMb: 2 } })],
    ['jobs', LIMITS.jobsPerCommand, () => checkCommandSize('enqueueMany', 10_001, 0)],
    ['jobs', LIMITS.bytesPerCommand, () => checkCommandSize('enqueueMany', 1, 2 ** 24 + 1)],
  ])('%s is an OptionRangeError that names the limit %d', (option, limit, call) => {
    const error = thrownBy(call)
    expect(error).toBeInstanceOf(OptionRangeError)
    expect(error).toBeInstanceOf(RangeError)
    expect(error).toMatchObject({ option, limit, code: 'OPTION_RANGE', message: expect.stringContaining(String(limit)) })
  })

  test('a name of a megabyte, at once and with its beginning alone', () => {
    const name = 'x'.repeat(2 ** 20)
    const calls = [() => enqueue({ [name]: 1 }), () => validateWorkOptions({ [name]: 1 }), () => validateQueueOptions({ [name]: 1 })]
    for (const error of calls.map(thrownBy)) {
      expect(error).toBeInstanceOf(OptionTypeError)
      expect((error as OptionTypeError).option).toBe(`${name.slice(0, 64)}...`)
      expect((error as OptionTypeError).message.length).toBeLessThan(2_000)
    }
    const tier = thrownBy(() => validateQueueOptions({ keyTiers: { [`${name}:`]: TIER } })) as OptionTypeError
    expect(tier.message.length).toBeLessThan(500)
  })

  test('what is not so is refused by name', () => {
    expect(thrownBy(() => validateOpenOptions({ file: ':memory:', share: true }))).toBeInstanceOf(OptionTypeError)
    expect(thrownBy(() => validateOpenOptions({ file: 'f', codec: {} }))).toMatchObject({ option: 'codec.encode' })
    expect(thrownBy(() => validateListOptions({ search: '' }))).toMatchObject({ option: 'search', limit: LIMITS.keyLength })
    expect(validateListOptions({ search: 'x' }).search).toBe('x')
    expect(validateOpenOptions({ file: 'f', share: true }).share).toBe(true)
  })
})

describe('names', () => {
  test('queue-name-namespace: letters, digits and _ . : / - alone, up to 128', () => {
    for (const name of ['a', 'A.b:c/d_e-1', 'x'.repeat(128)]) expect(nameOption('name', name)).toBe(name)
    for (const name of ['', 'a b', 'é', 'a\n', '😀', '.', '..']) expect(() => nameOption('name', name)).toThrow()
    for (const name of ['...', './', '/..', 'a.', '.a']) expect(nameOption('name', name)).toBe(name)
  })

  test('a control character is named with its position', () => {
    expect(thrownBy(() => nameOption('name', 'ab\u0007c'))).toMatchObject({ message: expect.stringContaining('U+0007) at position 2') })
    expect(thrownBy(() => nameOption('name', 'abc\n'))).toMatchObject({ message: expect.stringContaining('U+000A) at position 3') })
  })
})

describe('durations and times', () => {
  test('three ways to say the same, in whole milliseconds', () => {
    for (const value of [300_000, '5m', '5 m', { minutes: 5 }, { minutes: 4, seconds: 60 }] as const)
      expect(durationOption('d', value)).toBe(300_000)
    expect(durationOption('d', 0.2)).toBe(1)
  })

  test('delay-over-2^31ms: a hundred years are a delay', () => {
    expect(enqueue({ delay: LIMITS.durationMs }).delay).toBe(LIMITS.durationMs)
  })

  test('Infinity is for timeouts alone', () => {
    expect(enqueue({ timeout: Number.POSITIVE_INFINITY }).timeout).toBe(Number.POSITIVE_INFINITY)
    expect(validateStopOptions({ timeout: Number.POSITIVE_INFINITY })).toBe(Number.POSITIVE_INFINITY)
  })

  test('a time is a Date or milliseconds', () => {
    expect(timeOption('runAt', new Date(5))).toBe(5)
    expect(timeOption('runAt', 4_102_444_800_000)).toBe(4_102_444_800_000)
    expect(() => timeOption('runAt', '2030-01-01')).toThrow(OptionTypeError)
  })
})

describe('what is set, and nothing else, comes out', () => {
  test.each([
    ['10.0.0.5', { host: '10.0.0.5', port: 0 }],
    ['queue.example:7411', { host: 'queue.example', port: 7411 }],
    ['[::1]', { host: '::1', port: 0 }],
    ['[fe80::1]:65535', { host: 'fe80::1', port: 65_535 }],
  ])('the address %s of an owner', (listen, at) => {
    expect(validatePostgresOptions({ postgres: PG, listen })).toMatchObject({ postgres: PG, schema: 'millrace', role: 'any', listen: at })
  })

  test('no message shows the password of a URL', () => {
    expect(String(thrownBy(() => validatePostgresOptions({ postgres: 'postgres:u:secret@h' })))).not.toContain('secret')
  })

  test('an enqueue without options is name and data', () => {
    expect(newJobFrom('n', '1', undefined, undefined)).toEqual({ name: 'n', data: '1' })
    expect(Object.keys(newJobFrom('n', '1', { queue: undefined } as object, undefined))).toEqual(['name', 'data'])
  })

  test('a call goes before the definition', () => {
    const { defaults } = validateDefinition({ name: 'n', queue: 'media', maxAttempts: 5, timeout: '5m' })
    expect(newJobFrom('n', null, { maxAttempts: 2, tags: ['a', 'a'] }, defaults)).toEqual({
      name: 'n',
      data: null,
      queue: 'media',
      maxAttempts: 2,
      timeout: 300_000,
      tags: ['a'],
    })
  })

  test('a backoff function stays with its definition: the stored defaults have none', () => {
    const backoff = () => 1
    expect(validateDefinition({ name: 'n', backoff, weight: 2 })).toEqual({ name: 'n', defaults: { weight: 2 }, backoff })
  })

  test('a debounce trails by default; a throttle goes with a delay', () => {
    expect(enqueue({ debounce: { key: 'k', delay: '1s' } }).debounce).toEqual({ key: 'k', delay: 1_000, mode: 'trailing' })
    const throttled = enqueue({ throttle: { key: 'k', period: '1m' }, delay: 5 })
    expect([throttled.throttle, throttled.delay]).toEqual([{ key: 'k', period: 60_000 }, 5])
  })

  test('unique skips by default', () => {
    expect(enqueue({ unique: { key: 'k' } }).unique).toEqual({ key: 'k', onConflict: 'skip' })
  })

  test('concurrency sets both, and min follows max', () => {
    expect(validateWorkOptions()).toMatchObject({ minConcurrency: 16, maxConcurrency: 16, abortGraceMs: 30_000 })
    expect(validateWorkOptions({ concurrency: 4 })).toMatchObject({ minConcurrency: 4, maxConcurrency: 4 })
    expect(validateWorkOptions({ maxConcurrency: 3 })).toMatchObject({ minConcurrency: 3, maxConcurrency: 3 })
    expect(validateWorkOptions({ minConcurrency: 20 })).toMatchObject({ minConcurrency: 20, maxConcurrency: 20 })
  })

  test('retention: an age, a number, both, or none at all', () => {
    const keep = (retention: object) => validateOpenOptions({ file: 'f', retention }).retention
    expect(validateOpenOptions({ file: 'f' }).retention).toBe(DEFAULT_RETENTION)
    const forever = { ageMs: LIMITS.durationMs, count: 1_000_000_000_000 }
    expect(keep({ completed: 'forever', failed: { age: 'forever' }, cancelled: { age: '1d', count: 'forever' } })).toMatchObject({
      completed: forever,
      failed: { ageMs: forever.ageMs, count: DEFAULT_RETENTION.failed.count },
      cancelled: { ageMs: 86_400_000, count: forever.count },
    })
    expect(() => keep({ completed: 'always' })).toThrow(/retention.completed/)
    expect(keep({ completed: 0 }).completed).toEqual({ ageMs: 0, count: 1_000_000 })
    expect(keep({ failed: { days: 1 } }).failed).toEqual({ ageMs: 86_400_000, count: 1_000_000 })
    expect(keep({ cancelled: { count: 5 } }).cancelled).toEqual({ ageMs: DEFAULT_RETENTION.cancelled.ageMs, count: 5 })
    expect(keep({ journal: { age: '1d', bytes: 2 ** 20 } }).journal).toEqual({ ageMs: 86_400_000, bytes: 2 ** 20 })
  })

  test('of states: one, or several, each once; one or all of them are written as earlier engines know it', () => {
    const filterOf = (state: unknown) => validateListOptions({ state }).filter
    expect(filterOf('failed')).toEqual({ state: FAILED })
    expect(filterOf(['cancelled', 'failed', 'cancelled'])).toEqual({ states: [5, 6] })
    expect(filterOf(['failed', 'failed'])).toEqual({ state: FAILED })
    expect(filterOf([...STATES])).toEqual({})
    expect(validateMany('cancelMany', { state: ['waiting', 'scheduled'] }).filter).toEqual({ states: [0, 1] })
    expect(() => filterOf([])).toThrow('state must have at least one state, got an empty array')
    expect(() => filterOf(['failed', 'done'])).toThrow(/^state\[1\] must be .*got "done"/)
    expect(() => filterOf({ 0: 'failed' })).toThrow(/^state must be/)
    expect(() => validateListOptions({ states: ['failed'] })).toThrow(/no option 'states'/)
    expect(() => validateListOptions({ state: ['failed', 'cancelled'], order: 'finished' })).toThrow(/got several states/)
    expect(validateListOptions({ state: ['failed'], order: 'finished' }).order).toBe('finished')
  })

  test('of JSON to look for: what is written, and nothing that JSON would change or drop', () => {
    const dataOf = (data: unknown) => validateListOptions({ data }).filter.data
    const at = new Date(7)
    expect(dataOf({ customer: 7, at, of: [null, {}] })).toBe('{"customer":7,"at":"1970-01-01T00:00:00.007Z","of":[null,{}]}')
    for (const scalar of [7, '', 'a', false, null]) expect(dataOf(scalar)).toBe(JSON.stringify(scalar))
    expect(validateMany('deleteMany', { meta: { by: 'ann' } }).filter).toEqual({ meta: '{"by":"ann"}' })
    for (const lost of [undefined, Number.NaN, 7n, Symbol('s'), () => {}, new Map(), new Uint8Array(2)]) {
      expect(() => dataOf({ customer: lost, of: 1 }), String(lost)).toThrow(/^data has a property 'customer' that must be a value of JSON/)
      expect(() => dataOf([lost]), String(lost)).toThrow(OptionTypeError)
    }
    for (const all of [{}, []]) expect(() => dataOf(all)).toThrow(/^data must have a property or an item/)
    const circle: { of?: unknown } = {}
    circle.of = circle
    expect(() => dataOf(circle)).toThrow(/^data must be a value of JSON: /)
    expect(dataOf('x'.repeat(1_022))).toHaveLength(1_024)
    expect(() => dataOf('x'.repeat(1_023))).toThrow(OptionRangeError)
    expect(() => validateMany('deleteMany', { ids: ['x'], data: 1 })).toThrow(/ids cannot be combined with search, data/)
  })

  test('a cursor comes back as it went out', () => {
    for (const seq of [1, 2 ** 31, 2 ** 47]) {
      expect(validateListOptions({ order: 'oldest', after: formatCursor(seq, 'oldest') }).place).toEqual({ before: seq })
      expect(() => validateListOptions({ after: formatCursor(seq, 'oldest') })).toThrow(/same order/)
      expect(() => validateListOptions({ order: 'oldest', after: formatCursor(seq) })).toThrow(/same order/)
      expect(validateListOptions({ after: formatCursor(seq) }).place).toEqual({ before: seq })
      for (const at of [0, -7, 1_700_000_000_000, Number.MAX_SAFE_INTEGER]) {
        const place = { before: seq, beforeAt: at }
        const [ended, due] = [formatCursor(seq, 'finished', at), formatCursor(seq, 'due', at)]
        expect(validateListOptions({ state: 'failed', order: 'finished', after: ended }).place).toEqual(place)
        expect(validateListOptions({ state: 'scheduled', order: 'due', after: due }).place).toEqual(place)
        for (const after of [ended, due]) expect(() => validateListOptions({ after })).toThrow(/same order/)
        expect(() => validateListOptions({ state: 'failed', order: 'finished', after: due })).toThrow(/same order/)
        expect(() => validateListOptions({ state: 'scheduled', order: 'due', after: formatCursor(seq) })).toThrow(/same order/)
      }
    }
    for (const from of [
      { seq: 1, place: 0 },
      { seq: SEQ_LIMIT - 1, place: LIMITS.jobsPerCommand },
    ])
      expect(validateFlowGetOptions({ after: formatFlowCursor(from) })).toEqual({ limit: 50, from })
    for (const after of ['', 'f1', 'f.1', 'p1', 'f1.0000', 'fzzzzzzzzzz.0', 7])
      expect(() => validateFlowGetOptions({ after })).toThrow(OptionTypeError)
  })

  test('of a list of flows', () => {
    expect(validateFlowListOptions()).toEqual({ limit: 50 })
    expect(validateFlowListOptions({ state: 'failed', limit: 200, after: formatCursor(7) })).toEqual({
      state: 'failed',
      limit: 200,
      before: 7,
    })
    expect(() => validateFlowListOptions({ state: 'active' })).toThrow("state must be 'running' or 'completed' or 'failed' or 'cancelled'")
    for (const options of [{ after: 'f1.0' }, { after: 1 }, { queue: 'a' }])
      expect(() => validateFlowListOptions(options)).toThrow(OptionTypeError)
    for (const limit of [0, 201]) expect(() => validateFlowListOptions({ limit })).toThrow(OptionRangeError)
  })
})

describe('data', () => {
  test('undefined is null, bytes stay bytes, all else is JSON', () => {
    const bytes = Uint8Array.of(0, 255)
    expect(encodeData('data', undefined, 10)).toBe(null)
    expect(encodeData('data', bytes, 10)).toBe(bytes)
    expect(encodeData('data', { a: 'b' }, 10)).toBe('{"a":"b"}')
    for (const value of [null, 0, '', 'a\0b', '\ud800', [1, null], { a: 1 }])
      expect(decodeData(encodeData('data', value, 100))).toEqual(value)
    expect(decodeData(null)).toBe(undefined)
  })

  test('what JSON cannot hold is refused with the reason', () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    for (const [value, reason] of [
      [() => 1, 'function'],
      [Symbol('s'), 'symbol'],
      [1n, 'BigInt'],
      [circle, 'circular'],
      [new Map([[1, 2]]), 'it has the type Map, which JSON drops'],
      [new Set([1]), 'it has the type Set, which JSON drops'],
      [/x/, 'it has the type RegExp'],
      [new Error('no'), 'it has the type Error'],
      [Promise.resolve(1), 'it has the type Promise, which JSON drops. Await it first'],
    ] as const) {
      const error = thrownBy(() => encodeData('data', value, 100))
      expect(error).toBeInstanceOf(OptionTypeError)
      expect(error).toMatchObject({ option: 'data', message: expect.stringContaining(reason) })
    }
  })

  test('whatever holds bytes is stored as its bytes', () => {
    const { buffer } = Uint8Array.of(9, 1, 2, 3, 4, 9)
    const shared = new SharedArrayBuffer(2)
    new Uint8Array(shared).set([5, 6])
    for (const [value, bytes] of [
      [Uint8Array.of(1, 2).buffer, [1, 2]],
      [shared, [5, 6]],
      [new DataView(buffer, 1, 4), [1, 2, 3, 4]],
      [new Uint8ClampedArray(buffer, 1, 2), [1, 2]],
      [Uint16Array.of(1), [...new Uint8Array(Uint16Array.of(1).buffer)]],
      [Buffer.from('a'), [97]],
    ] as const)
      expect([...(encodeData('data', value, 100) as Uint8Array)]).toEqual(bytes)
  })

  test('an object without fields, and one that says what it is, are JSON', () => {
    class Ping {}
    for (const value of [{}, Object.create(null), new Ping()]) expect(encodeData('data', value, 10)).toBe('{}')
    expect(encodeData('data', new Date(0), 100)).toBe('"1970-01-01T00:00:00.000Z"')
    expect(encodeData('data', Object.assign(new Map(), { toJSON: () => [1] }), 100)).toBe('[1]')
  })

  test('the limit counts bytes of UTF-8, exactly', () => {
    expect(encodeData('data', 'é'.repeat(4), 10)).toBe(`"${'é'.repeat(4)}"`)
    expect(thrownBy(() => encodeData('data', 'é'.repeat(4), 9))).toMatchObject({
      option: 'data',
      limit: 9,
      message: expect.stringContaining('maxDataBytes'),
    })
    expect(thrownBy(() => encodeData('data', new Uint8Array(11), 10))).toBeInstanceOf(OptionRangeError)
    expect(thrownBy(() => encodeData('data', new ArrayBuffer(11), 10))).toBeInstanceOf(OptionRangeError)
  })

  test('utf8Bytes counts as the encoder does', () => {
    for (const text of ['', 'a', 'é', '€', '😀', '\ud800', '\udc00', '\ud800a', 'a😀\udc00\ud83d']) {
      expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length)
    }
  })
})
