/** The writer thread: owns the file, listens to channels, takes turns. */

import { availableParallelism, hostname } from 'node:os'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type Refusal, refusalFrom, StoreFailure } from '@millrace/core'
import { openStore, SCHEMA_VERSION } from '@millrace/sqlite'
import { Actor } from '../actor/actor.ts'
import { ActorFailure } from '../actor/failure.ts'
import { Loop } from '../actor/loop.ts'
import { systemCalendar, systemClock, systemRandom } from '../clock.ts'
import type { PackedRequests } from '../ports/pack/requests.ts'
import type { TrunkRequest } from '../ports/trunk.ts'
import { newClient } from './client.ts'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'
import { TrunkEnd } from './trunk.ts'

const host = parentPort
if (host === null) throw new Error('this file is the writer thread of an engine: it does not run on its own')

/** On a single processor it would keep the caller from asking. */
const LINGER_MS = availableParallelism() > 1 ? 0.05 : 0

/** Asked before each turn, and while the writer lingers. */
const TALKATIVE_MAX = 8

const say = (message: FromWriter): void => host.postMessage(message)

function open({ options, alive, channel }: WriterData): void {
  const { file, durability, recovery, retention, maxQueues, maxDataBytes, cacheKib, secureDelete, waitForOwnerMs, unsafeFilesystem } =
    options
  const { defaults, fileAccess } = options
  const store = openStore({
    file,
    durability,
    cacheKib,
    secureDelete,
    unsafeFilesystem,
    fileAccess,
    warn: (message, details) => say({ kind: 'warning', message, details }),
    waitMs: waitForOwnerMs,
    random: systemRandom,
    now: systemClock.read().wall,
    host: hostname(),
    pid: process.pid,
  })
  /** What each channel says, to whom; the answer is whether there is something to do. */
  const channels = new Map<MessagePort, (message: unknown) => boolean>()
  /** Channels that spoke last, the latest at the end. */
  const talkative = new Set<MessagePort>()
  const actor = new Actor({
    store,
    clock: systemClock,
    random: systemRandom,
    settings: {
      recovery,
      retention,
      defaults,
      calendar: systemCalendar,
      ...(maxQueues !== undefined && { maxQueues }),
      ...(maxDataBytes !== undefined && { maxDataBytes }),
    },
    alive: new Set(alive),
  })
  const loop = new Loop({ actor, clock: systemClock, collect, lingerMs: LINGER_MS, breathe: setImmediate, failed: fail })

  /**
   * What has arrived on the channels that speak joins the turn at once, instead of waiting for the event loop to tell. To ask many
   * silent ones would take longer than the turn.
   */
  function collect(from: Iterable<MessagePort> = talkative): void {
    // What is heard changes their order.
    for (const channel of [...from]) {
      for (let received = receiveMessageOnPort(channel); received !== undefined; received = receiveMessageOnPort(channel)) {
        hear(channel, received.message)
      }
    }
  }

  function hear(channel: MessagePort, message: unknown): boolean {
    const due = channels.get(channel)?.(message) ?? false
    if (!due) return false
    talkative.delete(channel)
    talkative.add(channel)
    if (talkative.size > TALKATIVE_MAX) talkative.delete(talkative.keys().next().value as MessagePort)
    return true
  }

  function attend(channel: MessagePort, listener: (message: unknown) => boolean, over: () => void): void {
    channels.set(channel, listener)
    channel.on('message', (message: unknown) => {
      if (hear(channel, message)) loop.wake()
    })
    channel.on('close', () => {
      channels.delete(channel)
      talkative.delete(channel)
      over()
      loop.wake()
    })
  }

  /** Of one client. */
  function connect(channel: MessagePort): void {
    const client = newClient(actor, (packed) => channel.postMessage(packed))
    attend(channel, (message) => client.hear(message as PackedRequests | number), client.leave)
  }

  /** Of many. */
  function connectTrunk(channel: MessagePort): void {
    const end = new TrunkEnd(
      (post) => newClient(actor, post),
      (message) => channel.postMessage(message),
    )
    attend(
      channel,
      (message) => end.hear(message as TrunkRequest),
      () => end.close(),
    )
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
    collect(channels.keys())
    while (actor.hasMail) actor.turn()
    loop.stop()
    for (const channel of channels.keys()) channel.close()
    store.close()
    say({ kind: 'closed' })
    host?.close()
  }

  host?.on('message', (message: ToWriter) => {
    if (message.kind === 'connect') connect(message.channel)
    else if (message.kind === 'connectTrunk') connectTrunk(message.channel)
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
