/** Makes the file this engine's: sets the next epoch, which every later commit checks, and a node number if it has none. */
import { NODE_LIMIT } from '@millrace/core'
import type { Database } from '../driver.ts'

export interface Claim {
  readonly epoch: number
  readonly node: number
}

export function claim(db: Database, random: () => number): Claim {
  // No file has node 0.
  const drawn = 1 + Math.floor(random() * (NODE_LIMIT - 1))
  const row = db.prepare('UPDATE meta SET epoch = epoch + 1, node = coalesce(node, ?) RETURNING epoch, node').raw().get(drawn)
  const [epoch, node] = row as [number, number]
  return { epoch, node }
}

/** Returns the current epoch of the file. */
export function epochOf(db: Database): number {
  return db.prepare('SELECT epoch FROM meta').pluck().get() as number
}
