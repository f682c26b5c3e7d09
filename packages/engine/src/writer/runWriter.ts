/** The writer thread: owns the store, listens to channels, takes turns. */

import { availableParallelism, hostname } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Refusal, refusalFrom } from '@millrace/core'
import { type Store, StoreFailure } from '@millrace/core/kernel'
import { VERSION } from '@millrace/worker'
import { Actor, type Warn } from '../actor/actor.ts'
import { ActorFailure, ownerLost } from '../actor/failure.ts'
import { Loop } from '../actor/loop.ts'
import { sharedMono, systemCalendar, systemClock, systemRandom } from '../clock.ts'
import type { MuxRequest } from '../ports/mux.ts'
import { startBeats } from './beats.ts'
import { Channels } from './channels.ts'
import { newClient, type Said } from './client.ts'
import { watchDeaths } from './deaths.ts'
import { PortDemux } from './demux.ts'
import { type ReadInbox, watchInbox } from './inbox.ts'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'

/** A store that this thread owns. */
export interface OwnedStore extends Store {
  /** A number that grows each time an engine takes the store. */
  readonly epoch: number
  /**
   * Shows a server that this owner lives. Returns false if others cannot find it by what is in the store.
   *
   * @throws StoreFailure, of reason `owner` if another engine owns the store by now
   */
  beat?(): boolean
  /** Reads jobs that others have put into the store without the engine; undefined if there is no way to. */
  readonly inbox?: ReadInbox
}

/** The writer's part of a store module. */
export interface WriterModule<Options> {
  /** The schema version of the stores that `open` returns. */
  readonly schema: number
  /** Opens the store as its one owner. `warn` takes a problem that does not keep it from being opened. */
  open(options: Options, warn: Warn): OwnedStore
}

/** The time that the thread looks out for more mail; none on a single processor, where it would keep the caller from asking. */
const LINGER_MS = availableParallelism() > 1 ? 0.05 : 0

/** Runs the thread that calls it, which a `WriterThread` has started. */
export function runWriter<Options>(module: WriterModule<Options>): void {
  const host = parentPort
  if (host === null) throw new Error('this file is the writer thread of an engine: it does not run on its own')
  const say = (message: FromWriter): void => host.postMessage(message)
  try {
    const { store: options, settings, alive, channel, beat }: WriterData = workerData
    const warn: Warn = (message, details) => say({ kind: 'warning', message, details })
    const store = module.open(options as Options, warn)
    serve({ host, say, warn, store, schema: module.schema, settings, alive, channel, beat })
  } catch (error) {
    say({ kind: 'failed', refusal: refusalOf(error) })
    host.close()
  }
}

interface Served extends Omit<WriterData, 'store'> {
  readonly host: MessagePort
  readonly say: (message: FromWriter) => void
  readonly warn: Warn
  readonly store: OwnedStore
  readonly schema: number
}

function actorOf({ store, settings, alive, warn }: Pick<Served, 'store' | 'settings' | 'alive' | 'warn'>): Actor {
  return new Actor({
    store,
    clock: systemClock,
    random: systemRandom,
    settings: { ...settings, calendar: systemCalendar },
    alive: new Set(alive),
    version: VERSION,
    owner: { host: hostname(), pid: process.pid, epoch: store.epoch },
    warn,
  })
}

function serve({ host, say, warn, store, schema, settings, alive, channel, beat }: Served): void {
  const actor = actorOf({ store, settings, alive, warn })
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
    channels.add(channel, (message) => client.hear(message as Said), client.leave)
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

  /** Ends the thread. The store is in doubt, so it is not closed: the thread's end frees its locks. */
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
    for (const stop of besides) stop()
    store.close()
    say({ kind: 'closed' })
    host.close()
  }

  host.on('message', (message: ToWriter) => {
    if (message.kind === 'connect') connect(message.channel)
    else if (message.kind === 'connectMux') connectMux(message.channel)
    else if (message.kind === 'declareDead') {
      actor.declareDead(message.sessions)
      loop.wake()
    } else close()
  })
  const besides = [
    startBeats(store, systemClock, {
      beaten: () => noteBeat(beat),
      lost: (failure) => end(ownerLost(failure)),
      forgotten: () => say({ kind: 'forgotten' }),
    }),
    watchDeaths({ actor, wake: loop.wake, clock: systemClock }),
    watchInbox({ read: store.inbox, actor, wake: loop.wake, clock: systemClock }),
  ]
  noteBeat(beat)
  connect(channel)
  say({ kind: 'ready', epoch: store.epoch, schema })
  loop.wake()
}

/** Notes that the store was this thread's just now. */
function noteBeat(beat: Float64Array): void {
  beat[0] = sharedMono()
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ActorFailure) return error.refusal
  return error instanceof StoreFailure ? { code: 'STORAGE', message: `the store cannot be read: ${error.message}` } : refusalFrom(error)
}
