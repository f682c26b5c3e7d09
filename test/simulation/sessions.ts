/** Which worker sessions the engine has reason to take for alive, and what it may do to their runs. */

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
  log: EffectLog | undefined

  constructor(timeline: Timeline, requests: Requests) {
    this.#timeline = timeline
    requests.attached = (session, connection, sentMono) => {
      this.#alive.add(session)
      this.#connection.set(session, connection)
      this.#attachSentMono.set(session, sentMono)
    }
    requests.left = (session) => void this.#left.add(session)
  }

  /** An engine begins, and is told who lives. */
  begin(alive: ReadonlySet<string>): void {
    this.#alive.clear()
    for (const session of alive) this.#alive.add(session)
  }

  /** The engine hears that a connection is no more. */
  dropped({ name }: Connection): void {
    for (const [session, connection] of this.#connection) {
      if (connection !== name) continue
      this.#alive.delete(session)
      this.#droppedMono.set(session, this.#timeline.mono)
    }
  }

  readonly mayLose = (job: Tracked): boolean => {
    const { mono } = this.#timeline
    return !this.#alive.has(job.session) || (this.#droppedMono.get(job.session) ?? -1) >= job.startedMono || mono >= job.earliestMono - 0.01
  }

  /** Not where the session held the run when it last named what it holds. */
  readonly mayRelease = ({ seq, run, session }: Tracked): boolean => {
    const execution = this.log?.of(seq, run)
    if (execution === undefined || execution.client.dead || this.#left.has(session)) return true
    return execution.startedMono >= (this.#attachSentMono.get(session) ?? -1)
  }
}
