import { describe, expect, test } from 'vitest'
import { BOUNDS } from '../limits.ts'
import type { TokenStore } from '../tokens.ts'
import { derived, Seal } from './seal.ts'
import { endedIn, type Session, Sessions } from './sessions.ts'

const HOUR = 3_600_000
const TOKEN = 'mr_a-token-of-somebody'
const SECRET = Buffer.alloc(32, 1)

function endedOf(tokens: TokenStore | undefined) {
  const ended = endedIn(tokens)
  return ended === undefined ? {} : { ended }
}

/** Sessions at a time that the test moves. */
function sessionsAt({ secret = SECRET, basePath = '', tokens = undefined as TokenStore | undefined } = {}) {
  const clock = { now: 1_800_000_000_000 }
  let bytes = 0
  const newBytes = (count: number) => {
    const made = Buffer.alloc(count)
    made.writeUInt32BE(++bytes)
    return made
  }
  return { clock, sessions: new Sessions({ secret, basePath, now: () => clock.now, newBytes, ...endedOf(tokens) }) }
}

const pairOf = (setting: string) => setting.slice(0, setting.indexOf(';'))
const requestWith = (cookie: string) => new Request('http://localhost/v1/jobs', { headers: { cookie } })

describe('a cookie', () => {
  test('is for this path alone, for no script, and for no other site', () => {
    const { sessions } = sessionsAt()
    expect(sessions.begin(TOKEN, false)).toMatch(/^millrace_[0-9a-f]{8}=[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(sessions.begin(TOKEN, true)).toMatch(/; HttpOnly; SameSite=Strict; Secure$/)
    expect(sessionsAt({ basePath: '/a/queue' }).sessions.begin(TOKEN, false)).toContain('; Path=/a/queue; HttpOnly;')
    expect(sessions.end(requestWith(''))).toBe(`${sessions.cookieName}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`)
  })

  test('opens as what was sealed', () => {
    const { sessions, clock } = sessionsAt()
    const opened = sessions.of(requestWith(`a=b; ${pairOf(sessions.begin(TOKEN, true))}; c=d`))
    expect(opened).toEqual({
      token: TOKEN,
      id: expect.stringMatching(/^[\w-]{16}\.[\w-]{22}$/),
      begunAt: clock.now,
      sealedAt: clock.now,
      secure: true,
    })
  })

  test('shows nothing of the token, and is another one each time', () => {
    const { sessions } = sessionsAt()
    const values = [1, 2].map(() => pairOf(sessions.begin(TOKEN, false)))
    expect(new Set(values).size).toBe(2)
    for (const value of values) {
      expect(value).not.toContain(TOKEN)
      expect(Buffer.from(value, 'base64url').toString('latin1')).not.toContain('mr_')
    }
  })

  test('that was tampered with is none: each character, each length', () => {
    const { sessions } = sessionsAt()
    const value = pairOf(sessions.begin(TOKEN, false))
    const from = value.indexOf('=') + 1
    for (let at = from; at < value.length; at++) {
      const other = value[at] === 'A' ? 'B' : 'A'
      expect(sessions.of(requestWith(`${value.slice(0, at)}${other}${value.slice(at + 1)}`)), `at ${at}`).toBeUndefined()
      expect(sessions.of(requestWith(value.slice(0, at))), `cut at ${at}`).toBeUndefined()
    }
    for (const end of ['A', '=', '==', '%20', '.', 'é']) expect(sessions.of(requestWith(value + end)), end).toBeUndefined()
    expect(sessions.of(requestWith(value))).toBeDefined()
  })

  test.each(['', '=', ';;;', 'millrace_=', 'x'.repeat(8_000), '"', '{}', '='.repeat(100)])('%j is none', (text) => {
    const { sessions } = sessionsAt()
    for (const cookie of [text, `${sessions.cookieName}=${text}`, `${sessions.cookieName}`])
      expect(sessions.of(requestWith(cookie))).toBeUndefined()
    expect(sessions.of(new Request('http://localhost/'))).toBeUndefined()
  })

  test('of another secret is none, even under this name', () => {
    const [one, other] = [sessionsAt().sessions, sessionsAt({ secret: Buffer.alloc(32, 2) }).sessions]
    expect(one.cookieName).not.toBe(other.cookieName)
    const foreign = pairOf(other.begin(TOKEN, false)).replace(other.cookieName, one.cookieName)
    expect(one.of(requestWith(foreign))).toBeUndefined()
    // A browser may have one of each path.
    expect(one.of(requestWith(`${foreign}; ${pairOf(one.begin(TOKEN, false))}`))?.token).toBe(TOKEN)
  })

  test('of the same secret is one, in another process and after a restart', () => {
    const [one, other] = [sessionsAt().sessions, sessionsAt().sessions]
    expect(other.of(requestWith(pairOf(one.begin(TOKEN, false))))?.token).toBe(TOKEN)
  })

  test('with the longest token fits into what browsers keep', () => {
    const { sessions } = sessionsAt({ basePath: `/${'a'.repeat(100)}` })
    const token = 'x'.repeat(BOUNDS.sessionTokenLength)
    const setting = sessions.begin(token, true)
    expect(setting.length).toBeLessThan(4_096)
    expect(sessions.of(requestWith(pairOf(setting)))?.token).toBe(token)
  })
})

describe('a session', () => {
  test('ends 12 hours after it was renewed last', () => {
    const { sessions, clock } = sessionsAt()
    const request = requestWith(pairOf(sessions.begin(TOKEN, false)))
    clock.now += 12 * HOUR - 1
    expect(sessions.of(request)?.token).toBe(TOKEN)
    clock.now += 1
    expect(sessions.of(request)).toBeUndefined()
  })

  test('that is ended is over for every copy of its cookie, and for no other session', () => {
    const { sessions, clock } = sessionsAt()
    const [one, other] = [1, 2].map(() => pairOf(sessions.begin(TOKEN, false))) as [string, string]
    clock.now += 600_000
    const renewed = pairOf(sessions.renewed(sessions.of(requestWith(one)) as Session) as string)
    sessions.end(requestWith(`a=b; ${renewed}`))
    expect([one, renewed, other].map((cookie) => sessions.of(requestWith(cookie)) !== undefined)).toEqual([false, false, true])
    for (let more = 0; more < BOUNDS.sessionsEnded - 1; more++) sessions.end(requestWith(pairOf(sessions.begin(TOKEN, false))))
    expect([one, other].map((cookie) => sessions.of(requestWith(cookie)) !== undefined)).toEqual([false, true])
    // The list is bounded: the earliest are forgotten.
    sessions.end(requestWith(other))
    expect([one, other].map((cookie) => sessions.of(requestWith(cookie)) !== undefined)).toEqual([true, false])
  })

  test('stays ended, however many sessions of another token end', () => {
    const { sessions } = sessionsAt()
    const [stolen, bystander] = [1, 2].map(() => requestWith(pairOf(sessions.begin(TOKEN, false)))) as [Request, Request]
    sessions.end(stolen)
    for (let more = 0; more <= BOUNDS.sessionsEnded; more++) sessions.end(requestWith(pairOf(sessions.begin('mr_of-another', false))))
    expect([stolen, bystander].map((request) => sessions.of(request) !== undefined)).toEqual([false, true])
  })

  test('is renewed when its cookie is ten minutes old, and not before', () => {
    const { sessions, clock } = sessionsAt()
    const session = sessions.of(requestWith(pairOf(sessions.begin(TOKEN, true))))
    if (session === undefined) throw new Error('no session')
    clock.now += 600_000 - 1
    expect(sessions.renewed(session)).toBeUndefined()
    clock.now += 1
    const renewal = sessions.renewed(session) ?? ''
    expect(renewal).toMatch(/; Max-Age=43200; .*; Secure$/)
    expect(sessions.of(requestWith(pairOf(renewal)))).toEqual({ ...session, sealedAt: clock.now })
  })

  test('slides for 7 days, and ends then, however often it was renewed', () => {
    const { sessions, clock } = sessionsAt()
    const end = clock.now + 7 * 24 * HOUR
    let setting = sessions.begin(TOKEN, false)
    for (clock.now += 11 * HOUR; clock.now < end; clock.now += 11 * HOUR) {
      const session = sessions.of(requestWith(pairOf(setting)))
      if (session === undefined) throw new Error(`over ${(end - clock.now) / HOUR} h before its end`)
      setting = sessions.renewed(session) ?? ''
      const maxAgeMs = Number(/Max-Age=(\d+)/.exec(setting)?.[1]) * 1_000
      expect(maxAgeMs).toBe(Math.min(12 * HOUR, end - clock.now))
    }
    clock.now = end - 1
    expect(sessions.of(requestWith(pairOf(setting)))?.token).toBe(TOKEN)
    clock.now = end
    expect(sessions.of(requestWith(pairOf(setting)))).toBeUndefined()
  })

  test('stays while a clock is set back', () => {
    const { sessions, clock } = sessionsAt()
    const session = sessions.of(requestWith(pairOf(sessions.begin(TOKEN, false))))
    clock.now -= HOUR
    expect(session && sessions.renewed(session)).toBeUndefined()
    expect(sessions.of(requestWith(pairOf(sessions.begin(TOKEN, false))))?.token).toBe(TOKEN)
  })
})

test('what is derived from a secret says nothing about what else is', () => {
  const one = Buffer.from(derived(SECRET, 'one', 32)).toString('hex')
  expect(Buffer.from(derived(SECRET, 'two', 32)).toString('hex')).not.toBe(one)
  expect(one).not.toBe(SECRET.toString('hex'))
})

test('a seal holds any text', () => {
  const seal = new Seal(SECRET, (bytes) => Buffer.alloc(bytes, 9))
  for (const text of ['', 'ü', '\0', 'x'.repeat(10_000)]) expect(seal.open(seal.close(text))).toBe(text)
})

test('a log-out at one server ends the session at another one of the same secret and the same store, renewed copies included', () => {
  const ended = new Map<string, Date>()
  const store = { endSession: (id: string, until: Date) => void ended.set(id, until), isEnded: (id: string) => ended.has(id) }
  const tokens = { list: () => [], create: () => expect.fail(), revoke: () => expect.fail(), audited: () => [], ...store }
  const [one, other] = [sessionsAt({ tokens }), sessionsAt({ tokens })]
  const first = pairOf(one.sessions.begin(TOKEN, false))
  const bystander = pairOf(one.sessions.begin(TOKEN, false))
  other.clock.now += HOUR
  const renewed = pairOf(other.sessions.renewed(other.sessions.of(requestWith(first)) as Session) ?? '')
  one.sessions.end(requestWith(first))
  for (const cookie of [first, renewed]) expect(other.sessions.of(requestWith(cookie))).toBeUndefined()
  expect([...ended.values()]).toEqual([new Date(one.clock.now + BOUNDS.sessionMs)])
  expect(other.sessions.of(requestWith(bystander))).toBeDefined()
})

test('a log-out whose store cannot be written fails, and has ended the session here', () => {
  const endSession = () => {
    throw new Error('the store was taken away')
  }
  const { sessions } = sessionsAt({ tokens: { endSession, isEnded: () => false } as unknown as TokenStore })
  const request = requestWith(pairOf(sessions.begin(TOKEN, true)))
  expect(() => sessions.end(request)).toThrow('taken away')
  expect(sessions.of(request)).toBeUndefined()
})
