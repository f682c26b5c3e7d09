/**
 * Follows a stream of events while the tab is seen and nothing pauses it, and continues behind the last event that it has had: HTTP/1.1
 * allows six connections to a host, and a stream takes one of them.
 */
import { effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Clock } from '../clock.ts'

export interface StreamHandlers {
  readonly opened: () => void
  readonly received: (data: string, lastEventId: string) => void
  /** Called when the stream has ended, and nobody opens it again. A break that the browser repairs is none. */
  readonly ended: () => void
}

/** Opens a stream. Returns a function that closes it. */
export type OpenStream = (url: string, handlers: StreamHandlers) => () => void

export interface FollowOptions<Item> {
  readonly open: OpenStream
  readonly clock: Clock
  readonly running: ReadonlySignal<boolean>
  /** The event behind which to begin: a number, or `now`. */
  readonly after: number | 'now'
  readonly urlOf: (after: number | 'now') => string
  /** Gets what has come, a few times in a second at most. */
  readonly take: (items: readonly Item[]) => void
}

export type FollowState = 'off' | 'opening' | 'on' | 'down'

/** Many events may come at once: they are shown together. */
const GATHER_MS = 200
const RETRY_MS = 2_000
const RETRY_MAX_MS = 60_000

export class Follow<Item> {
  readonly state = signal<FollowState>('off')
  readonly #options: FollowOptions<Item>
  #after: number | 'now'
  #gathered: Item[] = []
  #failures = 0
  #close: (() => void) | undefined
  #callOffRetry: (() => void) | undefined
  #callOffFlush: (() => void) | undefined

  constructor(options: FollowOptions<Item>) {
    this.#options = options
    this.#after = options.after
  }

  /** Follows from now on. Returns a function that ends it. */
  start(): () => void {
    const endWatch = effect(() => {
      if (this.#options.running.value) this.#open()
      else this.#stop()
    })
    return () => {
      endWatch()
      this.#stop()
      this.#callOffFlush?.()
    }
  }

  #open(): void {
    this.state.value = 'opening'
    this.#close = this.#options.open(this.#options.urlOf(this.#after), {
      opened: () => {
        this.#failures = 0
        this.state.value = 'on'
      },
      received: (data, lastEventId) => {
        const id = Number(lastEventId)
        if (lastEventId !== '' && Number.isSafeInteger(id)) this.#after = id
        this.#gathered.push(JSON.parse(data) as Item)
        this.#callOffFlush ??= this.#options.clock.after(GATHER_MS, () => this.#flush())
      },
      ended: () => this.#retry(),
    })
  }

  #flush(): void {
    this.#callOffFlush = undefined
    this.#options.take(this.#gathered.splice(0))
  }

  #retry(): void {
    this.#close?.()
    this.#close = undefined
    this.state.value = 'down'
    const delay = Math.min(RETRY_MS * 2 ** this.#failures++, RETRY_MAX_MS)
    this.#callOffRetry = this.#options.clock.after(delay, () => this.#open())
  }

  #stop(): void {
    this.#close?.()
    this.#close = undefined
    this.#callOffRetry?.()
    this.state.value = 'off'
  }
}

/** Opens the browser's own `EventSource`, which sends the cookie of the session. */
export function openEventSource(types: readonly string[]): OpenStream {
  return (url, { opened, received, ended }) => {
    const source = new EventSource(url)
    const listen = (event: MessageEvent<string>) => received(event.data, event.lastEventId)
    for (const type of types) source.addEventListener(type, listen)
    source.onopen = opened
    source.onerror = () => {
      // Otherwise the browser opens it again, with the last id.
      if (source.readyState === EventSource.CLOSED) ended()
    }
    return () => source.close()
  }
}
