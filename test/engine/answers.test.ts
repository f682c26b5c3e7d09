/** How long a turn answers questions: what it has no time for waits in order, and commands pass. */
import { systemCalendar } from '@millrace/client/calendar'
import { type Command, DEFAULT_RETENTION, type Delivery, LIMITS, type Stats } from '@millrace/core'
import type { Store } from '@millrace/core/kernel'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { seededRandom } from '@millrace/testkit/internal'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { Actor } from '../../packages/engine/src/actor/actor.ts'

/** Of one question that reads. */
const READ_MS = LIMITS.turnMs / 2

let clock: VirtualClock
let actor: Actor
/** Everything that connections were told, by turns. */
let told: string[]
let fails = false
let onWriteFailed = () => {}

beforeEach(() => {
  clock = new VirtualClock()
  fails = false
  onWriteFailed = () => {}
  const random = seededRandom(3)
  const opened = openStore({ file: ':memory:', durability: 'normal', random, now: clock.read().wall, host: 'host', pid: 1 })
  onTestFinished(() => opened.close())
  const slow = <T>(answer: T): T => {
    clock.stall(READ_MS)
    return answer
  }
  const store: Store = {
    ...opened,
    failures: (laneIds, limit, order) => slow(opened.failures(laneIds, limit, order)),
    events: (after, limit) => slow(opened.events(after, limit)),
    write: (effects, header) => {
      if (fails) {
        onWriteFailed()
        throw new Error('the disk is gone')
      }
      opened.write(effects, header)
    },
  }
  const settings = { recovery: 'immediate' as const, retention: DEFAULT_RETENTION, calendar: systemCalendar }
  actor = new Actor({ store, clock, random, settings, alive: new Set() })
  told = []
})

/** A connection whose replies are noted by its name and their requests. */
function connect(name: string): (...commands: readonly Command[]) => void {
  let last = 0
  const connection = actor.connect(({ replies }: Delivery) =>
    told.push(...replies.map(({ id, refusal }) => `${name}${id}${refusal === undefined ? '' : ` ${refusal.code}`}`)),
  )
  return (...commands) =>
    actor.receive(
      connection,
      commands.map((command) => ({ id: ++last, command })),
    )
}

/** One turn, and what was told in it. */
function turn(): string[] {
  told = []
  actor.turn()
  return told
}

const ASK: Command = { op: 'failures', limit: 1 }
const ENQUEUE: Command = { op: 'enqueue', jobs: [{ name: 'a', data: null }] }
const EVENTS: Command = { op: 'events', after: 0, filter: {} }

test('a turn answers for so long; the rest comes with the next turns, in order, and the connections take turns', () => {
  const [a, b] = [connect('a'), connect('b')]
  actor.turn()
  a(ASK, ASK, ASK, ASK, ASK)
  b(ASK, ASK)
  expect(turn()).toEqual(['a1', 'a2'])
  expect(actor.hasMail).toBe(true)
  expect(turn()).toEqual(['a3', 'b1'])
  expect(turn()).toEqual(['a4', 'b2'])
  expect(turn()).toEqual(['a5'])
  expect(actor.hasMail).toBe(false)
})

test('an operation that this version does not know is refused, and nothing else with it', () => {
  const a = connect('a')
  actor.turn()
  a({ op: 'levitate' } as never, { op: 'constructor' } as never, ENQUEUE)
  expect(turn()).toEqual(['a1 UNSUPPORTED', 'a2 UNSUPPORTED', 'a3'])
})

test('commands pass the questions that wait, those of the same connection too', () => {
  const [a, b] = [connect('a'), connect('b')]
  actor.turn()
  a(...Array(300).fill(ASK))
  turn()
  a(ENQUEUE, ASK)
  b(ENQUEUE)
  // At least one of those that wait, whatever else a turn does; the new question stands at the end.
  expect(turn()).toEqual(['a301', 'b1', 'a3', 'a4'])
  expect(turn()).toEqual(['a5', 'a6'])
})

test('readers of the journal wait behind short questions, and have their turn all the same', () => {
  const [a, b, c] = [connect('a'), connect('b'), connect('c')]
  b(ENQUEUE)
  turn()
  a(...Array(20).fill(EVENTS))
  expect(turn()).toHaveLength(2)
  b(...Array(20).fill(ASK))
  c(ENQUEUE)
  expect(turn()).toContain('c1')
  const order: string[] = []
  while (actor.hasMail) order.push(...turn())
  const pagesBeforeStats = order.slice(0, order.lastIndexOf('b21')).filter((reply) => reply.startsWith('a')).length
  expect(pagesBeforeStats).toBeGreaterThan(0)
  expect(pagesBeforeStats).toBeLessThan(5)
  expect(order.filter((reply) => reply.startsWith('a'))).toHaveLength(18)
})

test('256 readers of the journal delay a new job by one turn, of 10 ms and the page that it has begun', () => {
  const readers = Array.from({ length: 256 }, (_, index) => connect(`reader${index}-`))
  const producer = connect('new')
  producer(ENQUEUE)
  turn()
  for (const read of readers) read(EVENTS)
  for (let job = 2; job <= 128; job++) {
    producer(ENQUEUE)
    const start = clock.read().mono
    // Whatever the readers have asked before: the very next turn has the answer.
    expect(turn()).toContain(`new${job}`)
    expect(clock.read().mono - start).toBeLessThanOrEqual(LIMITS.turnMs + READ_MS)
    for (const reply of told.filter((said) => said.startsWith('reader'))) readers[Number(reply.slice(6, reply.indexOf('-')))]?.(EVENTS)
  }
})

test('one that is given up, or whose connection is gone, is not read', () => {
  const [a, b] = [connect('a'), connect('b')]
  a(ENQUEUE)
  turn()
  a(ASK, ASK, ASK, EVENTS, ASK)
  b(ASK)
  turn()
  a({ op: 'unwatch', request: 5 })
  expect(turn()).toEqual(['a7', 'a4', 'b1'])
  actor.disconnect(1)
  expect(turn()).toEqual([])
  expect(actor.mailboxDepth).toBe(0)
})

test('where turns fail and are put off, questions that wait are answered meanwhile', () => {
  const a = connect('a')
  actor.turn()
  a(...Array(5).fill(ASK))
  turn()
  fails = true
  a(ENQUEUE)
  turn()
  fails = false
  const order: string[] = []
  while (actor.hasMail) order.push(...turn())
  expect(order).toEqual(['a5'])
})

test('a question is answered in its place also where what falls due in its turn cannot be written', () => {
  const [a, b] = [connect('a'), connect('b')]
  b({ op: 'enqueue', jobs: [{ name: 'a', data: null, delay: 1_000 }] })
  turn()
  a(ASK, ASK, ASK)
  expect(turn()).toEqual(['a1', 'a2'])
  clock.stall(1_000)
  fails = true
  a(ASK)
  b(ENQUEUE)
  expect(turn()).toEqual(['b2 INTERNAL', 'a3', 'a4'])
})

test('stats count what was decided before them, also where one turn is decided in several transactions', () => {
  const waiting: unknown[] = []
  const connection = actor.connect(({ replies }) => {
    for (const { id, value } of replies) if (id % 2 === 1) waiting.push((value as Stats).states.waiting)
  })
  actor.turn()
  fails = true
  onWriteFailed = () => {
    fails = false
  }
  const commands = [{ op: 'stats' }, ENQUEUE, { op: 'stats' }] as const
  actor.receive(
    connection,
    commands.map((command, index) => ({ id: index + 1, command })),
  )
  turn()
  expect(waiting).toEqual([0, 1])
})
