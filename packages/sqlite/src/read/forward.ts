/** Forwards reads to the current connection. They fail as writes do: with a StoreFailure that says what to do. */
import { failureBefore } from '../failure.ts'
import { READ_NAMES, type Reads } from './reads.ts'

type Read = (...values: unknown[]) => unknown

export function forwardReads(current: () => Reads): Reads {
  const forwarded: Record<string, Read> = {}
  for (const name of READ_NAMES) {
    forwarded[name] = (...values) => {
      try {
        return (current()[name] as Read)(...values)
      } catch (error) {
        throw failureBefore(error)
      }
    }
  }
  return forwarded as unknown as Reads
}
