/** The store as the engine has it: one connection, which `reopen` replaces. */
import { answersOf, type Store, StoreFailure } from '@millrace/core/kernel'
import type { Connection } from './connection.ts'
import type { Claim } from './open/claim.ts'
import { prepareReads } from './read/reads.ts'
import { prepareWrite } from './write/write.ts'

export interface PostgresStore extends Store {
  readonly care: undefined
  /** The number of engines that have owned the schema, this one included. */
  readonly epoch: number
  /** The schema's number in the ids of its jobs. */
  readonly node: number
}

export function makeStore(connection: Connection, claim: Claim): PostgresStore {
  const reads = prepareReads(connection)
  let write = prepareWrite(connection, claim, claim.turn)
  let closed = false
  return {
    ...reads,
    care: undefined,
    epoch: claim.epoch,
    node: claim.node,
    read: (questions) => answersOf(reads, questions),
    write: (effects, header) => write(effects, header),
    reopen: () => {
      if (closed) throw new StoreFailure('before', 'io', 'the store is closed')
      connection.reopen()
      write = prepareWrite(connection, claim, lastTurn(connection, claim))
    },
    close: () => {
      if (closed) return
      closed = true
      connection.close()
    },
  }
}

/** Returns the last turn, which has been written if its commit was of unknown outcome. */
function lastTurn(connection: Connection, { epoch }: Claim): number {
  const [turn, last] = connection.get<[number, number]>('SELECT turn, epoch FROM journal ORDER BY turn DESC LIMIT 1') ?? [0, 0]
  if (last !== epoch) throw new StoreFailure('before', 'owner', 'another engine has taken the schema over')
  return turn
}
