/** Positions in the engine's journal. */
import type { Engine, EventStreamItem } from '@millrace/engine'

/** Returns the number of the last event. The engine answers a cursor ahead of the journal with its current position. */
export async function lastEvent(engine: Engine): Promise<number> {
  const stream = engine.events({ after: Number.MAX_SAFE_INTEGER })
  const { value } = await stream.next()
  await stream.return()
  return value === undefined ? 0 : cursorOf(value)
}

/** Returns the cursor of an item of the stream. Later items have larger numbers. */
export function cursorOf(event: EventStreamItem): number {
  return event.type === 'gap' ? event.resumesAt - 1 : event.seq
}
