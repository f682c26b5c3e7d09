/** Makes the file this engine's: the next epoch, which every later commit checks, and a node number where it has none. */
import { NODE_LIMIT } from '@millrace/core'
import type { Database } from '../driver.ts'

export interface Claim {
  readonly epoch: number
  readonly node: number
}

export function claim(db: Database, random: () => number): Claim {
  // 0 is nobody's node.
  const drawn = 1 + Math.floor(random() * (NODE_LIMIT - 1))
  const row = db.prepare('UPDATE meta SET epoch = epoch + 1, node = coalesce(node, ?) RETURNING epoch, node').raw().get(drawn)
  const [epoch, node] = row as [number, number]
  return { epoch, node }
}

/** The epoch that the file is in now. */
export function epochOf(db: Database): number {
  return db.prepare('SELECT epoch FROM meta').pluck().get() as number
}
