/** The writer thread: owns the file, listens to channels, takes turns. */

import { availableParallelism, hostname } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Refusal, refusalFrom } from '@millrace/core'
import { type Settings, StoreFailure } from '@millrace/core/kernel'
import { openStore, SCHEMA_VERSION, type SqliteStore } from '@millrace/sqlite'
import { Actor } from '../actor/actor.ts'
import { ActorFailure } from '../actor/failure.ts'
import { Loop } from '../actor/loop.ts'
import { systemCalendar, systemClock, systemRandom } from '../clock.ts'
import type { MuxRequest } from '../ports/mux.ts'
import type { PackedRequests } from '../ports/pack/requests.ts'
import { Channels } from './channels.ts'
import { newClient } from './client.ts'
import { PortDemux } from './demux.ts'
import type { FromWriter, ToWriter, WriterData, WriterOptions } from './messages.ts'

const host = parentPort
if (host === null) throw new Error('this file is the writer thread of an engine: it does not run on its own')

/** The time that the thread looks out for more mail; none on a single processor, where it would keep the caller from asking. */
const LINGER_MS = availableParallelism() > 1 ? 0.05 : 0

const say = (message: FromWriter): void => host.postMessage(message)

function open({ options, alive, channel }: WriterData): void {
  const store = storeOf(options)
  const actor = new Actor({ store, clock: systemClock, random: systemRandom, settings: settingsOf(options), alive: new Set(alive) })
  const channels = new Channels(() => loop.wake())
  const loop = new Loop({
    actor,
    clock: systemClock,
    drain: () => channels.drain(),
    lingerMs: LINGER_MS,
    breathe: setImmediate,
    failed: (error) => end(refusalOf(error)),
  })

  function connect(channel: MessagePort): void {
    const client = newClient(actor, (packed) => channel.postMessage(packed))
    channels.add(channel, (message) => client.hear(message as PackedRequests | number), client.leave)
  }

  /** Connects many clients over one channel. */
  function connectMux(channel: MessagePort): void {
    const mux = new PortDemux(
      (post) => newClient(actor, post),
      (message) => channel.postMessage(message),
    )
    channels.add(
      channel,
      (message) => mux.hear(message as MuxRequest),
      () => mux.close(),
    )
  }

  /** Ends the thread. The store is in doubt, so the file is not closed: the thread's end frees its locks. */
  function end(refusal: Refusal): void {
    say({ kind: 'failed', refusal })
    setImmediate(() => process.exit(1))
  }

  function close(): void {
    // Messages that have arrived are answered before anything closes.
    channels.drainAll()
    while (actor.hasMail) actor.turn()
    loop.stop()
    channels.close()
    store.close()
    say({ kind: 'closed' })
    host?.close()
  }

  host?.on('message', (message: ToWriter) => {
    if (message.kind === 'connect') connect(message.channel)
    else if (message.kind === 'connectMux') connectMux(message.channel)
    else if (message.kind === 'declareDead') {
      actor.declareDead(message.sessions)
      loop.wake()
    } else close()
  })
  connect(channel)
  say({ kind: 'ready', epoch: store.epoch, schema: SCHEMA_VERSION })
  loop.wake()
}

function storeOf(options: WriterOptions): SqliteStore {
  const { file, durability, cacheKib, secureDelete, unsafeFilesystem, fileAccess, waitForOwnerMs } = options
  return openStore({
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
}

function settingsOf({ recovery, retention, defaults, maxQueues, maxDataBytes }: WriterOptions): Settings {
  return {
    recovery,
    retention,
    defaults,
    calendar: systemCalendar,
    ...(maxQueues !== undefined && { maxQueues }),
    ...(maxDataBytes !== undefined && { maxDataBytes }),
  }
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
