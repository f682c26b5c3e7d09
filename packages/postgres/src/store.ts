/** The store as the engine has it: one connection, which is opened again where it breaks. */
import { answersOf, type Store, StoreFailure } from '@millrace/core/kernel'
import type { Connection } from './connection.ts'
import { type Claim, claim } from './open/claim.ts'
import { prepareReads } from './read/reads.ts'
import { prepareWrite } from './write/write.ts'

export interface PostgresStore extends Store {
  readonly care: undefined
  /** The number of claims of the schema, this engine's last one included. */
  readonly epoch: number
  /** The schema's number in the ids of its jobs. */
  readonly node: number
}

export function makeStore(connection: Connection, first: Claim): PostgresStore {
  const reads = prepareReads(connection)
  let owned = first
  let write = prepareWrite(connection, owned, owned.turn)
  let closed = false

  /**
   * Connects again and claims the schema behind its own epoch. The claim waits for a turn of the broken connection that may still go on, so
   * that from then on the journal says whether there was one. Returns the failure if another engine was first: its claim has waited, too.
   */
  const recover = (at: number): StoreFailure | undefined => {
    connection.reopen()
    try {
      owned = claim(connection, at, owned.epoch)
    } catch (error) {
      if (error instanceof StoreFailure && error.reason === 'owner') return error
      throw error
    }
    write = prepareWrite(connection, owned, owned.turn)
    return undefined
  }

  return {
    ...reads,
    care: undefined,
    node: first.node,
    get epoch() {
      return owned.epoch
    },
    read: (questions) => answersOf(reads, questions),
    write: (effects, header) => {
      const turn = write.next()
      const { epoch } = owned
      try {
        write.turn(effects, header)
      } catch (error) {
        if (!(error instanceof StoreFailure) || error.phase !== 'commit') throw error
        const failure = recover(header.at)
        if (wasWritten(connection, turn, epoch)) return
        throw failure ?? new StoreFailure('before', 'io', `${error.message}: the turn was not written`, { cause: error })
      }
    },
    reopen: () => {
      if (closed) throw new StoreFailure('before', 'io', 'the store is closed')
      connection.reopen()
      owned = { ...owned, turn: lastTurn(connection, owned) }
      write = prepareWrite(connection, owned, owned.turn)
    },
    close: () => {
      if (closed) return
      closed = true
      connection.close()
    },
  }
}

function wasWritten(connection: Connection, turn: number, epoch: number): boolean {
  return connection.pluck<number>('SELECT epoch FROM journal WHERE turn = $1', turn)[0] === epoch
}

/** Returns the last turn, which has been written if its commit was of unknown outcome. */
function lastTurn(connection: Connection, { epoch }: Claim): number {
  const [turn, last] = connection.get<[number, number]>('SELECT turn, epoch FROM journal ORDER BY turn DESC LIMIT 1') ?? [0, 0]
  if (last !== epoch) throw new StoreFailure('before', 'owner', 'another engine has taken the schema over')
  return turn
}
