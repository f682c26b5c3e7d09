/** Where the journal ends just now. */
import type { Engine } from '@millrace/client'

/** The `seq` of the last event: a cursor that nobody has come to yet is told of it as a gap. */
export async function headOf(engine: Engine, signal?: AbortSignal): Promise<number> {
  const stream = engine.events({ after: Number.MAX_SAFE_INTEGER, ...(signal !== undefined && { signal }) })
  const { value } = await stream.next()
  await stream.return()
  if (value?.type !== 'gap') throw new RangeError('the journal has come to its last number')
  return value.resumesAt - 1
}
