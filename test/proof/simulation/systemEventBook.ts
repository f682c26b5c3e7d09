/**
 * What is told of queues, schedules, workers and the engine, held against what committed turns have made of them: one event for each change, with it,
 * and none without one. Replayed, the events say what is so.
 */
import {
  type EnginePauseEventBody,
  isLive,
  type QueueEventBody,
  type QueueSettings,
  type ScheduleEventBody,
  type SystemEventBody,
  sameSettings,
} from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Limits } from './limits.ts'
import type { Tracked } from './model.ts'

interface QueueBook {
  paused: boolean
  draining: boolean
  drained: boolean
  emptied: boolean
  readonly parts: Set<string>
  settings: QueueSettings
  /** Of this turn. */
  configured: number
}

interface ScheduleBook {
  paused: boolean
  ended: boolean
  fired: number
  skipped: number
}

export interface SystemEventBookOptions {
  readonly history: History
  readonly limits: Limits
  readonly jobs: ReadonlyMap<number, Tracked>
  /** Why the engine may take a worker's session for lost; false where it may not. */
  readonly mayLoseSession: (session: string) => boolean
  readonly sessionGone: (session: string, isLost: boolean) => void
  readonly hasLeft: (session: string) => boolean
}

export class SystemEventBook {
  readonly #options: SystemEventBookOptions
  readonly #queues = new Map<string, QueueBook>()
  readonly #schedules = new Map<string, ScheduleBook>()
  #paused = false
  /** Sessions that are there, and whether they drain. */
  readonly #workers = new Map<string, boolean>()
  /** The uuids of sessions by their numbers. */
  readonly #uuids = new Map<string, string>()
  /** The `session` of each worker event: every reader knows these. */
  readonly toldSessions = new Set<string>()

  constructor(options: SystemEventBookOptions) {
    this.#options = options
  }

  get workers(): ReadonlyMap<string, boolean> {
    return this.#workers
  }

  /** After the jobs and the limits of the turn. */
  commit(effects: Effects): void {
    for (const { id, intro } of effects.newSessions) this.#uuids.set(String(id), intro.uuid)
    for (const note of effects.events) if (note.job === undefined) this.#replay(note.body)
    this.#compareQueues(effects)
    this.#compareSchedules(effects)
  }

  #hold(so: boolean, event: SystemEventBody, what: string): void {
    this.#options.history.hold(so, 40, () => `${JSON.stringify(event)} is told, and ${what}`)
  }

  #replay(event: SystemEventBody): void {
    this.#options.history.meet(event.type)
    if ('queue' in event) this.#queue(event)
    else if ('schedule' in event) this.#schedule(event)
    else if ('worker' in event) this.#worker(event.type, this.#uuidOf(event.session), event)
    else this.#engine(event)
  }

  /** A reader is told the number of a session, and nothing by which it could speak for it. */
  #uuidOf(told: string): string {
    this.toldSessions.add(told)
    const uuid = this.#uuids.get(told)
    this.#options.history.hold(uuid !== undefined, 54, () => `an event tells ${told} of a session, which is the number of none`)
    return uuid ?? told
  }

  #engine(event: EnginePauseEventBody): void {
    const paused = event.type === 'engine.paused'
    this.#hold(this.#paused !== paused, event, 'it was so before')
    this.#paused = paused
  }

  #queue(event: QueueEventBody): void {
    const { queue: name } = event
    const queue = this.#queueOf(name)
    const part = event.name ?? event.key
    switch (event.type) {
      case 'queue.configured':
        queue.configured++
        break
      case 'queue.paused':
      case 'queue.resumed': {
        const pauses = event.type === 'queue.paused'
        if (part === undefined) {
          this.#hold(pauses ? !queue.paused : queue.paused || queue.draining, event, 'it was so before')
          queue.paused = pauses
          if (!pauses) queue.draining = queue.drained = false
        } else {
          const key = `${event.name === undefined ? 'key' : 'job'} ${part}`
          this.#hold(queue.parts.has(key) !== pauses, event, 'it was so before')
          if (pauses) queue.parts.add(key)
          else queue.parts.delete(key)
        }
        break
      }
      case 'queue.draining':
        this.#hold(!queue.draining, event, 'it was so before')
        queue.draining = true
        break
      case 'queue.drained':
        this.#hold(queue.draining && !queue.drained, event, 'it does not drain, or was told before')
        queue.drained = true
        break
      case 'queue.empty':
        this.#hold(!queue.emptied, event, 'it was told before')
        queue.emptied = true
        break
      case 'queue.deleted':
        this.#queues.delete(name)
    }
  }

  #queueOf(name: string): QueueBook {
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      queue = { paused: false, draining: false, drained: false, emptied: false, parts: new Set(), settings: {}, configured: 0 }
      this.#queues.set(name, queue)
    }
    return queue
  }

  #compareQueues({ queues, queuesGone }: Effects): void {
    const { history, limits } = this.#options
    history.hold(this.#paused === limits.pausedAll, 40, () => `all is paused: ${limits.pausedAll}, and told as ${this.#paused}`)
    for (const { name } of [...queues, ...queuesGone]) this.#queueOf(name)
    for (const [name, queue] of this.#queues) {
      const { paused, settings, parts } = limits.of(name)
      const { draining, ...others } = settings
      const told = `${queue.paused} ${queue.draining} ${[...queue.parts].sort()}`
      const so = `${paused} ${draining === true} ${parts.sort()}`
      history.hold(told === so, 40, () => `queue ${name} is (paused, draining, paused parts) ${so}, and told as ${told}`)
      const same = sameSettings(queue.settings, others)
      this.#compareEmpty(name, queue, others)
      const enough = queue.configured === 0 ? same : queue.configured > 1 || !same
      history.hold(enough, 40, () => `queue ${name} is told as configured ${queue.configured} times, its settings being the same: ${same}`)
      queue.settings = others
      queue.configured = 0
      if (!queue.draining) continue
      const empty = this.#isEmpty(name)
      if (!empty) queue.drained = false
      history.hold(queue.drained === empty, 40, () => `queue ${name} drains, and is told as drained ${queue.drained}, and empty ${empty}`)
    }
  }

  /** A queue that is empty when it is asked to report it says nothing. */
  #compareEmpty(name: string, queue: QueueBook, { empties }: QueueSettings): void {
    const { history } = this.#options
    const empty = empties !== undefined && this.#isEmpty(name)
    if (!empty || queue.settings.empties === undefined) queue.emptied = empty
    history.hold(queue.emptied === empty, 40, () => `queue ${name} is told as empty ${queue.emptied}, and is empty ${empty}`)
    if (empty) history.meet('queueEmpty')
  }

  #isEmpty(name: string): boolean {
    return ![...this.#options.jobs.values()].some((job) => job.queue === name && isLive(job.state))
  }

  #schedule(event: ScheduleEventBody): void {
    const { schedule: id } = event
    const before = this.#schedules.get(id)
    if (event.type === 'schedule.upserted') {
      this.#schedules.set(id, before ?? { paused: false, ended: false, fired: 0, skipped: 0 })
      return
    }
    this.#hold(before !== undefined, event, 'there is none')
    if (before === undefined) return
    switch (event.type) {
      case 'schedule.paused':
      case 'schedule.resumed':
        this.#hold(before.paused === (event.type === 'schedule.resumed'), event, 'it was so before')
        before.paused = event.type === 'schedule.paused'
        break
      case 'schedule.fired':
      case 'schedule.triggered':
        this.#hold(event.job !== undefined, event, 'no job has come')
        before.fired++
        break
      case 'schedule.skipped':
        if (event.reason !== 'late') before.skipped++
        break
      case 'schedule.ended':
        before.ended = true
        break
      case 'schedule.deleted':
        this.#schedules.delete(id)
    }
  }

  #compareSchedules({ schedules }: Effects): void {
    const last = new Map([...schedules].map(([record, change]) => [record.id, { record, change }]))
    for (const [id, { record, change }] of last) {
      const told = this.#schedules.get(id)
      const { paused, fired, skipped } = record
      const so = change === 'delete' ? 'gone' : `${paused} ${fired} ${skipped}`
      const said = told === undefined ? 'gone' : `${told.paused} ${told.fired} ${told.skipped}`
      this.#options.history.hold(so === said, 40, () => `schedule ${id} is (paused, fired, skipped) ${so}, and told as ${said}`)
    }
  }

  #worker(type: string, session: string, event: SystemEventBody): void {
    const { hasLeft, mayLoseSession, sessionGone } = this.#options
    const drains = this.#workers.get(session)
    if (type === 'worker.attached') {
      this.#hold(drains === undefined, event, 'it is there')
      this.#workers.set(session, false)
      return
    }
    this.#hold(drains !== undefined, event, 'it is not there')
    if (type === 'worker.disputed') return
    if (type === 'worker.draining') {
      this.#hold(drains === false, event, 'it was so before')
      this.#workers.set(session, true)
      return
    }
    if (type === 'worker.left') this.#hold(hasLeft(session), event, 'it has not said so')
    else this.#hold(mayLoseSession(session), event, 'it lives')
    sessionGone(session, type === 'worker.lost')
    this.#workers.delete(session)
  }
}
