/** `on`, `once`, `off`: events are asked of the engine only while somebody listens. */
import {
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

export type EventName = EventType | '*'
/** Of a type of event: of just what that happens to. */
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
export type EventListener<Name extends EventName = '*'> = (event: EventOf<Name>) => void

/** Events that were not told, by their numbers: whoever listens did not keep up. */
export interface EventGap {
  readonly first: number
  readonly last: number
}
export type GapListener = (gap: EventGap) => void

type Name = EventName | 'gap'
type Told = MillraceEvent & EventGap

const NAMES: readonly string[] = [...EVENT_TYPES, '*', 'gap']

/** What the emitter calls: the listener, kept from doing harm. */
interface Guarded {
  (event: Told): void
  readonly listener: EventListener | GapListener
}

export class Listeners {
  readonly #emitter = new EventEmitter<Name>()
  readonly #mailbox: Mailbox
  readonly #logger: Logger | undefined
  /** What the engine was told last. */
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

  /** After a break: whoever is there now has not been told that somebody listens. */
  renew(): void {
    this.#subscribed = false
    this.#subscribe()
  }

  tell(events: readonly JournalEvent[]): void {
    for (const event of events) {
      const told = engineEventOf(event)
      this.#emitter.emit(event.type, told)
      this.#emitter.emit('*', told)
    }
    this.#subscribe()
  }

  missed({ first, last }: EventGap): void {
    this.#emitter.emit('gap', { first, last })
  }

  /** With the first listener that comes, and with the last that goes. */
  #subscribe(): void {
    const on = this.#emitter.eventNames().length > 0
    if (on === this.#subscribed) return
    this.#subscribed = on
    this.#mailbox.call<'subscribe'>({ op: 'subscribe', on }).catch(() => {})
  }

  /** A listener that throws, or rejects, is no reason to stop the others, or the engine. */
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
    if (!NAMES.includes(name as string)) throw new OptionTypeError('event', `there is no event '${String(name)}'${hintOf(String(name))}`)
    if (typeof listener !== 'function') throw new OptionTypeError('listener', 'a listener must be a function')
  }
}

/** The nearest name first; the others follow. */
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
