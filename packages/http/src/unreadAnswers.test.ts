// Answers that nobody reads: how many bytes of them there may be, and how long. Connections are objects: servers of Node give the same.
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { BOUNDS } from './limits.ts'
import { ManualClock } from './testing/manualClock.ts'
import { UnreadAnswers } from './unreadAnswers.ts'

class Connection extends EventEmitter {
  writableLength = 0
  destroyed = false

  write(bytes: number): void {
    this.writableLength += bytes
  }

  destroy(): void {
    this.destroyed = true
  }
}

function begin(answers: UnreadAnswers, bytes: number, { httpVersionMajor = 1, countsUnread = false } = {}) {
  const socket = new Connection()
  const outgoing = new EventEmitter()
  answers.begin({ incoming: { httpVersionMajor, socket }, outgoing, countsUnread })
  socket.write(bytes)
  return { socket, outgoing }
}

const written = () => new Promise((resolve) => setImmediate(resolve))

test('beyond the budget of all clients together, the one with the most unread loses its connection', async () => {
  const answers = new UnreadAnswers(new ManualClock(), 100)
  const sizes = [40, 50, 5, 6]
  const clients = sizes.map((bytes) => begin(answers, bytes))
  await written()
  expect(clients.map(({ socket }) => socket.destroyed)).toEqual([false, true, false, false])
})

test('answers that were read, or whose responses are over, count no more', async () => {
  const answers = new UnreadAnswers(new ManualClock(), 100)
  const [read, over] = [begin(answers, 60), begin(answers, 30)]
  await written()
  read.socket.writableLength = 0
  over.outgoing.emit('close')
  const last = begin(answers, 90)
  await written()
  expect([read, over, last].map(({ socket }) => socket.destroyed)).toEqual([false, false, false])
})

test('a client that reads nothing for a minute loses its connection, and one that reads slowly does not', () => {
  const clock = new ManualClock()
  const answers = new UnreadAnswers(clock)
  const [stuck, slow, idle] = [begin(answers, 50), begin(answers, 5_000), begin(answers, 0)]
  for (let ms = 0; ms <= BOUNDS.unreadMs + 2 * BOUNDS.unreadLookMs; ms += BOUNDS.unreadLookMs) {
    slow.socket.writableLength--
    clock.advance(BOUNDS.unreadLookMs)
  }
  expect([stuck, slow, idle].map(({ socket }) => socket.destroyed)).toEqual([true, false, false])
})

test.each([
  ['of HTTP/2', { httpVersionMajor: 2 }],
  ['of a server that counts them itself', { countsUnread: true }],
])('requests %s, and those without a connection, are not watched', async (_whose, kind) => {
  const clock = new ManualClock()
  const answers = new UnreadAnswers(clock, 10)
  const other = begin(answers, 50, kind)
  answers.begin(undefined)
  answers.begin({})
  await written()
  clock.advance(2 * BOUNDS.unreadMs)
  expect(other.socket.destroyed).toBe(false)
})

test('several requests of an app that it answers together count once', async () => {
  const answers = new UnreadAnswers(new ManualClock(), 10)
  const { socket } = begin(answers, 8)
  answers.begin({ incoming: { httpVersionMajor: 1, socket }, outgoing: new EventEmitter() })
  await written()
  expect(socket.destroyed).toBe(false)
})
