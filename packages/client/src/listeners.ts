/** `on`, `once`, `off`: events are asked of the engine only while somebody listens. */
import { EVENT_TYPES, type EventType, type JobEvent, type Logger, OptionTypeError } from '@millrace/core'
import { EventEmitter } from 'eventemitter3'
import type { Mailbox } from './mailbox.ts'
import { type EngineEvent, engineEventOf } from './view.ts'

export type EventListener = (event: EngineEvent) => void
export type EventName = EventType | '*'

const NAMES: readonly string[] = [...EVENT_TYPES, '*']

export class Listeners {
  readonly #emitter = new EventEmitter<EventName>()
  readonly #mailbox: Mailbox
  readonly #logger: Logger | undefined
  /** Listeners that are told once. */
  readonly #once = new WeakSet<EventListener>()

  constructor(mailbox: Mailbox, logger: Logger | undefined) {
    this.#mailbox = mailbox
    this.#logger = logger
  }

  add(name: EventName, listener: EventListener, once: boolean): void {
    this.#check(name, listener)
    const before = this.#count()
    this.#emitter.on(name, listener)
    if (once) this.#once.add(listener)
    if (before === 0) this.subscribe()
  }

  remove(name: EventName, listener: EventListener): void {
    this.#check(name, listener)
    this.#emitter.off(name, listener)
    if (this.#count() === 0) this.#mailbox.call<'subscribe'>({ op: 'subscribe', on: false }).catch(() => {})
  }

  /** Asks for events, where somebody listens: with the first listener, and again after a break. */
  subscribe(): void {
    if (this.#count() > 0) this.#mailbox.call<'subscribe'>({ op: 'subscribe', on: true }).catch(() => {})
  }

  tell(events: readonly JobEvent[]): void {
    for (const event of events) {
      const told = engineEventOf(event)
      this.#emit(event.type, told)
      this.#emit('*', told)
    }
  }

  /** A listener that throws is no reason to stop the others, or the engine. */
  #emit(name: EventName, event: EngineEvent): void {
    for (const listener of this.#emitter.listeners(name)) {
      if (this.#once.delete(listener)) this.remove(name, listener)
      try {
        listener(event)
      } catch (error) {
        if (this.#logger === undefined) process.emitWarning(`a listener for '${name}' has thrown: ${String(error)}`, 'MillraceWarning')
        else this.#logger.error('an event listener has thrown', { event: name, error: String(error) })
      }
    }
  }

  #count(): number {
    return this.#emitter.eventNames().length
  }

  #check(name: unknown, listener: unknown): void {
    if (!NAMES.includes(name as string)) throw new OptionTypeError('event', `there is no event '${String(name)}': ${NAMES.join(', ')}`)
    if (typeof listener !== 'function') throw new OptionTypeError('listener', 'a listener is a function')
  }
}
