/** The writer thread: owns the file, listens to channels, takes turns. */

import { availableParallelism, hostname } from 'node:os'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type ConnectionId, type Refusal, refusalFrom, StoreFailure } from '@millrace/core'
import { openStore, SCHEMA_VERSION } from '@millrace/sqlite'
import { Actor, ActorFailure } from '../actor/actor.ts'
import { Loop } from '../actor/loop.ts'
import { systemCalendar, systemClock, systemRandom } from '../clock.ts'
import { packDelivery } from '../ports/pack/deliveries.ts'
import { type PackedRequests, unpackRequests } from '../ports/pack/requests.ts'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'
import { Unread } from './unread.ts'

const host = parentPort
if (host === null) throw new Error('this file is the writer thread of an engine; it is not to be run by itself')

/** On a single processor it would keep the caller from asking. */
const LINGER_MS = availableParallelism() > 1 ? 0.05 : 0

/** Asked before each turn, and while the writer lingers. */
const TALKATIVE_MAX = 8

const say = (message: FromWriter): void => host.postMessage(message)

function open({ options, alive, channel }: WriterData): void {
  const { file, durability, recovery, retention, cacheKib, waitForOwnerMs, unsafeFilesystem } = options
  const store = openStore({
    file,
    durability,
    cacheKib,
    unsafeFilesystem,
    waitMs: waitForOwnerMs,
    random: systemRandom,
    now: systemClock.read().wall,
    host: hostname(),
    pid: process.pid,
  })
  const channels = new Map<ConnectionId, MessagePort>()
  const unread = new Map<ConnectionId, Unread>()
  /** Channels that spoke last, the latest at the end. */
  const talkative = new Map<ConnectionId, MessagePort>()
  const actor = new Actor({
    store,
    clock: systemClock,
    random: systemRandom,
    settings: { recovery, retention, calendar: systemCalendar },
    alive: new Set(alive),
  })
  const loop = new Loop({ actor, clock: systemClock, collect, lingerMs: LINGER_MS, breathe: setImmediate, failed: fail })

  /**
   * What has arrived on the channels that speak joins the turn at once, instead of waiting for the event loop to tell. To ask each of a
   * thousand silent ones would take longer than the turn.
   */
  function collect(from: ReadonlyMap<ConnectionId, MessagePort> = talkative): void {
    // What is heard changes their order.
    for (const [connection, channel] of [...from]) {
      for (let received = receiveMessageOnPort(channel); received !== undefined; received = receiveMessageOnPort(channel)) {
        receive(connection, received.message)
      }
    }
  }

  /** Requests, or how many events have been read. */
  function receive(connection: ConnectionId, message: PackedRequests | number): void {
    if (typeof message === 'number') {
      unread.get(connection)?.read(message)
      return
    }
    actor.receive(connection, unpackRequests(message))
    const channel = channels.get(connection)
    if (channel === undefined) return
    talkative.delete(connection)
    talkative.set(connection, channel)
    if (talkative.size > TALKATIVE_MAX) talkative.delete(talkative.keys().next().value as ConnectionId)
  }

  function connect(channel: MessagePort): void {
    const bound = new Unread()
    const connection = actor.connect((delivery) => {
      const admitted = bound.admit(delivery)
      if (admitted !== undefined) channel.postMessage(packDelivery(admitted))
    })
    channels.set(connection, channel)
    unread.set(connection, bound)
    channel.on('message', (message: PackedRequests | number) => {
      receive(connection, message)
      if (typeof message !== 'number') loop.wake()
    })
    channel.on('close', () => {
      channels.delete(connection)
      talkative.delete(connection)
      unread.delete(connection)
      actor.disconnect(connection)
      loop.wake()
    })
  }

  function fail(error: unknown): void {
    end(refusalOf(error))
  }

  /** Without closing the file where the store is in doubt: the thread's end frees its locks. */
  function end(refusal: Refusal): void {
    say({ kind: 'failed', refusal })
    setImmediate(() => process.exit(1))
  }

  function close(): void {
    collect(channels)
    while (actor.hasMail) actor.turn()
    loop.stop()
    for (const channel of channels.values()) channel.close()
    store.close()
    say({ kind: 'closed' })
    host?.close()
  }

  host?.on('message', (message: ToWriter) => {
    if (message.kind === 'connect') connect(message.channel)
    else if (message.kind === 'bury') {
      actor.bury(message.sessions)
      loop.wake()
    } else close()
  })
  connect(channel)
  say({ kind: 'ready', epoch: store.epoch, schema: SCHEMA_VERSION })
  loop.wake()
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ActorFailure) return error.refusal
  return error instanceof StoreFailure ? { code: 'STORAGE', message: `the file cannot be read: ${error.message}` } : refusalFrom(error)
}

try {
  open(workerData as WriterData)
} catch (error) {
  say({ kind: 'failed', refusal: refusalOf(error) })
  host.close()
}
