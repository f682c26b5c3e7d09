/** Finds the end of the journal. */
import type { Engine } from '@millrace/client'

/** Returns the `seq` of the last event. A cursor beyond the journal gets a gap that reveals it. */
export async function headOf(engine: Engine, signal?: AbortSignal): Promise<number> {
  const stream = engine.events({ after: Number.MAX_SAFE_INTEGER, ...(signal !== undefined && { signal }) })
  const { value } = await stream.next()
  await stream.return()
  if (value?.type !== 'gap') throw new RangeError('the journal has come to its last number')
  return value.resumesAt - 1
}
