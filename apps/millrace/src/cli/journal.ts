/** Where the engine's journal stands. */
import type { Engine, EventStreamItem } from '@millrace/engine'

/** The number of the last event: a cursor that is ahead of the journal is answered with where it is. */
export async function lastEvent(engine: Engine): Promise<number> {
  const stream = engine.events({ after: Number.MAX_SAFE_INTEGER })
  const { value } = await stream.next()
  await stream.return()
  return value === undefined ? 0 : cursorOf(value)
}

/** What is behind an item of the stream has a larger number. */
export function cursorOf(event: EventStreamItem): number {
  return event.type === 'gap' ? event.resumesAt - 1 : event.seq
}
