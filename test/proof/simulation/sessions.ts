/** Which worker sessions the engine has reason to take for alive, and what it may do to their runs. */
import { LIMITS, leaseMs } from '@millrace/core'
import type { EffectLog } from './effectLog.ts'
import type { Connection } from './engine.ts'
import type { Tracked } from './model.ts'
import type { Requests } from './requests.ts'
import type { Timeline } from './timeline.ts'

export class Sessions {
  readonly #timeline: Timeline
  readonly #alive = new Set<string>()
  readonly #connection = new Map<string, string>()
  readonly #attachSentMono = new Map<string, number>()
  readonly #droppedMono = new Map<string, number>()
  readonly #left = new Set<string>()
  readonly #names = new Map<string, string>()
  /** Told to stop by this engine, since its tables were loaded, and neither left nor lost since. */
  readonly #stopped = new Set<string>()
  /** Of other processes: when each was last heard of. */
  readonly #heardMono = new Map<string, number>()
  #reloadMono = 0
  /** Of sessions that have yet to attach again: when the tables were loaded without them. */
  readonly #awaitedMono = new Map<string, number>()
  log: EffectLog | undefined

  constructor(timeline: Timeline, requests: Requests) {
    this.#timeline = timeline
    requests.attached = ({ uuid, worker, local }, connection, sentMono) => {
      this.#names.set(uuid, worker)
      this.#alive.add(uuid)
      this.#connection.set(uuid, connection)
      this.#attachSentMono.set(uuid, sentMono)
      if (!local && !this.#heardMono.has(uuid)) this.#heardMono.set(uuid, timeline.mono)
    }
    // The turn before may have taken it for lost.
    requests.attachAnswered = (uuid) => void this.#awaitedMono.delete(uuid)
    // When the engine has counted it: a turn before may have taken the session for silent.
    requests.counted = (connection, mono) => {
      for (const [uuid, heardMono] of this.#heardMono)
        if (this.#connection.get(uuid) === connection) this.#heardMono.set(uuid, Math.max(heardMono, mono))
    }
    requests.stopped = (worker) => {
      for (const [uuid, name] of this.#names) if (name === worker) this.#stopped.add(uuid)
    }
    requests.mayTake = (session) => !this.#stopped.has(session)
    requests.left = (session) => void this.#left.add(session)
  }

  /** An engine begins, and is told who lives. */
  begin(alive: ReadonlySet<string>): void {
    this.#alive.clear()
    this.#awaitedMono.clear()
    this.#stopped.clear()
    for (const session of alive) this.#alive.add(session)
  }

  /** The tables were loaded anew: leases begin again. */
  reloaded(mono: number): void {
    this.#reloadMono = mono
    // A turn that gave one up may have failed, which loads the tables again: its time was over all the same.
    for (const uuid of this.#alive) if (!this.#awaitedMono.has(uuid)) this.#awaitedMono.set(uuid, mono)
    this.#stopped.clear()
  }

  /** The engine hears that a connection is no more. */
  dropped({ name }: Connection): void {
    for (const [session, connection] of this.#connection) {
      if (connection !== name) continue
      this.#alive.delete(session)
      this.#droppedMono.set(session, this.#timeline.mono)
    }
  }

  /** When what a session has began anew; undefined where its leases have no end. */
  #renewedMono(session: string): number | undefined {
    const heardMono = this.#heardMono.get(session)
    if (heardMono === undefined) return undefined
    // One that has yet to attach again may be on record alone, which what else its connection says does not renew.
    return this.#awaitedMono.has(session) ? this.#reloadMono : Math.max(heardMono, this.#reloadMono)
  }

  readonly mayLose = (job: Tracked): boolean => {
    const { mono } = this.#timeline
    const renewedMono = this.#renewedMono(job.session)
    if (renewedMono !== undefined) return mono >= Math.max(renewedMono, job.startedMono) + leaseMs(job.heartbeatTimeout) - 0.01
    return !this.#alive.has(job.session) || (this.#droppedMono.get(job.session) ?? -1) >= job.startedMono || mono >= job.earliestMono - 0.01
  }

  /** A worker's session is told as lost: nobody comes back for it, or not in time. */
  readonly mayLoseSession = (session: string): boolean => {
    const { mono } = this.#timeline
    const renewedMono = this.#renewedMono(session)
    if (renewedMono !== undefined) return mono >= renewedMono + LIMITS.leaseMs - 0.01
    const awaitedMono = this.#awaitedMono.get(session) ?? this.#reloadMono
    return !this.#alive.has(session) || this.#droppedMono.has(session) || mono >= awaitedMono + LIMITS.reattachGraceMs - 0.01
  }

  /** Whoever comes back is a newcomer: what it was told is forgotten. */
  readonly gone = (session: string): void => void this.#stopped.delete(session)

  readonly hasLeft = (session: string): boolean => this.#left.has(session)

  /** Not where the session held the run when it last named what it holds. */
  readonly mayRelease = ({ seq, run, session, heartbeatTimeout }: Tracked): boolean => {
    const execution = this.log?.of(seq, run)
    if (execution === undefined || execution.client.dead || this.#left.has(session)) return true
    // It has ended the run by itself, because it was unheard of for too long.
    if (execution.client.lapses.some(({ mono, ms }) => mono >= execution.startedMono && leaseMs(heartbeatTimeout) <= ms)) return true
    return execution.startedMono >= (this.#attachSentMono.get(session) ?? -1)
  }
}
