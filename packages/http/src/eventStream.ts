/** Server-sent events, read from the journal as fast as the reader takes them, and no faster. */
import type { Engine, EventStreamItem } from '@millrace/client'
import type { Clock, EventsFilter } from '@millrace/core'
import { BOUNDS } from './limits.ts'
import type { Pace } from './pace.ts'

export interface StreamOptions {
  readonly frames: Frames
  readonly pace: Pace
  readonly after: number | 'now'
  readonly filter: EventsFilter
  /** The stream ends when one of them aborts: the reader is gone, or the engine is about to stop. */
  readonly ends: readonly AbortSignal[]
  readonly clock: Clock
  /** Asked with each heartbeat, and after each change. The stream ends if its token is no longer valid. */
  readonly stillMay: () => Promise<boolean>
  /** Calls the listener when tokens or sessions have changed. Returns a function that removes it. */
  readonly onChange: (listener: () => void) => () => void
  /** Called once, when the stream is over. */
  readonly ended: () => void
}

const encoder = new TextEncoder()
/** Makes browsers reconnect after this many milliseconds. */
const OPENING = encoder.encode('retry: 2000\n\n')
const HEARTBEAT = encoder.encode(':\n\n')

/** @throws what `engine.events` does */
export function eventStream(engine: Engine, options: StreamOptions): ReadableStream<Uint8Array> {
  const { frames, pace, after, filter, ends, clock, stillMay, onChange, ended } = options
  // Beyond the journal: the gap that comes first says where it ends.
  const events = engine.events({ after: after === 'now' ? Number.MAX_SAFE_INTEGER : after, filter })
  const textOf = after === 'now' ? placeFirst(frames) : (item: EventStreamItem) => frames.of(item)
  let cancelTimer = () => {}
  let forget = () => {}
  let over = false
  const end = (controller?: ReadableStreamDefaultController<Uint8Array>) => {
    if (over) return
    over = true
    cancelTimer()
    forget()
    for (const each of ends) each.removeEventListener('abort', abort)
    void events.return()
    controller?.close()
    ended()
  }
  let abort = () => end()
  const check = (controller: ReadableStreamDefaultController<Uint8Array>) => void stillMay().then((still) => still || end(controller))
  const beat = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    cancelTimer = clock.setTimer(BOUNDS.heartbeatMs, () => {
      // A reader that takes nothing has enough to read already.
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(HEARTBEAT)
      beat(controller)
      check(controller)
    })
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        abort = () => end(controller)
        controller.enqueue(OPENING)
        if (ends.some(({ aborted }) => aborted)) return abort()
        for (const each of ends) each.addEventListener('abort', abort)
        forget = onChange(() => check(controller))
        beat(controller)
      },
      async pull(controller) {
        try {
          await pace.turn()
          const { done, value } = await events.next()
          if (done) end(controller)
          else if (!over) controller.enqueue(encoder.encode([value, ...events.take(BOUNDS.eventsPerChunk - 1)].map(textOf).join('')))
        } catch {
          // The engine has stopped. The reader comes back with the last id that it has.
          end(controller)
        }
      },
      cancel: () => end(),
    },
    { highWaterMark: BOUNDS.streamBytes, size: (chunk) => chunk?.byteLength ?? 0 },
  )
}

/** Keeps the text of events for all streams that reach them one soon after the other. */
export class Frames {
  readonly #texts = new Map<number, string>()

  of(item: EventStreamItem): string {
    if (item.type === 'gap') return frameOf(item)
    const known = this.#texts.get(item.seq)
    if (known !== undefined) return known
    const text = frameOf(item)
    if (this.#texts.size >= BOUNDS.framesKept) this.#texts.delete(this.#texts.keys().next().value as number)
    this.#texts.set(item.seq, text)
    return text
  }
}

function frameOf(item: EventStreamItem): string {
  return `id: ${idOf(item)}\nevent: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`
}

/** Formats the first item as an id without an event: an `EventSource` dispatches nothing for it, and comes back with it. */
function placeFirst(frames: Frames): (item: EventStreamItem) => string {
  let isFirst = true
  return (item) => {
    const isPlace = isFirst && item.type === 'gap'
    isFirst = false
    return isPlace ? `id: ${idOf(item)}\n\n` : frames.of(item)
  }
}

/** Returns the cursor behind an item. That of a gap is before the next event, so that a reader resumes behind the gap. */
function idOf(item: EventStreamItem): number {
  return item.type === 'gap' ? item.resumesAt - 1 : item.seq
}
