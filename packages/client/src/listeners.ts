/** `on`, `once`, `off`: the engine sends events only while there is a listener. */
import {
  describe,
  type EnginePauseEventType,
  EVENT_TYPES,
  type EventType,
  type JobEventType,
  type JournalEvent,
  type Logger,
  nearest,
  OptionTypeError,
  type QueueEventType,
  type ScheduleEventType,
  shortened,
  type WorkerEventType,
} from '@millrace/core'
import { EventEmitter } from 'eventemitter3'
import type { Mailbox } from './mailbox.ts'
import {
  type EngineEvent,
  type EnginePauseEvent,
  engineEventOf,
  type MillraceEvent,
  type QueueEvent,
  type ScheduleEvent,
  type WorkerEvent,
} from './view.ts'

/** The name of an event that `engine.on` takes. */
export type EventName = EventType | '*'
/** The shape of the events with that name. */
export type EventOf<Name extends EventName> = Name extends JobEventType
  ? EngineEvent
  : Name extends QueueEventType
    ? QueueEvent
    : Name extends ScheduleEventType
      ? ScheduleEvent
      : Name extends WorkerEventType
        ? WorkerEvent
        : Name extends EnginePauseEventType
          ? EnginePauseEvent
          : MillraceEvent
/** A function that is called with each event of a name. */
export type EventListener<Name extends EventName = '*'> = (event: EventOf<Name>) => void

/** Events that were not delivered, by their numbers, because the listener did not keep up. */
export interface EventGap {
  readonly first: number
  readonly last: number
}
/** A function that is called when events were missed. */
export type GapListener = (gap: EventGap) => void

type Name = EventName | 'gap'
type Told = MillraceEvent & EventGap

const NAMES: readonly string[] = [...EVENT_TYPES, '*', 'gap']

/** The function that the emitter calls: the listener, with its errors caught. */
interface Guarded {
  (event: Told): void
  readonly listener: EventListener | GapListener
}

export class Listeners {
  readonly #emitter = new EventEmitter<Name>()
  readonly #mailbox: Mailbox
  readonly #logger: Logger | undefined
  /** The subscription that the engine was last sent. */
  #subscribed = false

  constructor(mailbox: Mailbox, logger: Logger | undefined) {
    this.#mailbox = mailbox
    this.#logger = logger
  }

  add(name: Name, listener: EventListener | GapListener, once: boolean): void {
    this.#check(name, listener)
    const guarded: Guarded = Object.assign((event: Told) => this.#call(name, listener, event), { listener })
    if (once) this.#emitter.once(name, guarded)
    else this.#emitter.on(name, guarded)
    this.#subscribe()
  }

  remove(name: Name, listener: EventListener | GapListener): void {
    this.#check(name, listener)
    for (const guarded of this.#emitter.listeners(name) as Guarded[]) if (guarded.listener === listener) this.#emitter.off(name, guarded)
    this.#subscribe()
  }

  /** Subscribes again after a break: the engine that is there now does not know of the listeners. */
  renew(): void {
    this.#subscribed = false
    this.#subscribe()
  }

  tell(events: readonly JournalEvent[]): void {
    for (const event of events) {
      const view = engineEventOf(event)
      this.#emitter.emit(event.type, view)
      this.#emitter.emit('*', view)
    }
    this.#subscribe()
  }

  missed({ first, last }: EventGap): void {
    this.#emitter.emit('gap', { first, last })
  }

  /** Subscribes with the first listener, and unsubscribes with the last. */
  #subscribe(): void {
    const on = this.#emitter.eventNames().length > 0
    if (on === this.#subscribed) return
    this.#subscribed = on
    this.#mailbox.call<'subscribe'>({ op: 'subscribe', on }).catch(() => {})
  }

  /** Calls a listener. If it throws or rejects, neither the other listeners nor the engine stop. */
  #call(name: Name, listener: EventListener | GapListener, event: Told): void {
    const failed = (error: unknown) => {
      if (this.#logger === undefined) process.emitWarning(`a listener for '${name}' has thrown: ${textOf(error)}`, 'MillraceWarning')
      else this.#logger.error('an event listener has thrown', { event: name, error: textOf(error) })
    }
    try {
      const answer: unknown = listener(event)
      if (answer instanceof Promise) answer.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  #check(name: unknown, listener: unknown): void {
    if (typeof name !== 'string') throw new OptionTypeError('event', `event must be a string, got ${describe(name)}`)
    if (!NAMES.includes(name)) throw new OptionTypeError('event', `there is no event '${shortened(name)}'${hintOf(name)}`)
    if (typeof listener !== 'function') throw new OptionTypeError('listener', 'a listener must be a function')
  }
}

/** Returns the nearest name first, then the others. */
function hintOf(name: string): string {
  const near = nearest(name, NAMES)
  const others = NAMES.filter((other) => other !== near).join(', ')
  return near === undefined ? `: ${others}` : `; did you mean '${near}'? Others: ${others}`
}

function textOf(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'something that cannot be read'
  }
}
