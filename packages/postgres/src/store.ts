/** The store as the engine has it: one connection, which is opened again if it breaks. */
import { answersOf, type Effects, type Store, StoreFailure, type TurnHeader } from '@millrace/core/kernel'
import type { Connection } from './connection.ts'
import { prepareInbox, type ReadInbox } from './inbox/read.ts'
import { LowWaterMarks } from './lowWaterMarks.ts'
import type { Claim } from './open/claim.ts'
import type { Lock } from './open/lock.ts'
import { Ownership } from './ownership.ts'
import { prepareReads } from './read/reads.ts'

export interface PostgresStore extends Store {
  readonly care: undefined
  /** The number of claims of the schema, this engine's last one included. */
  readonly epoch: number
  /** The schema's number in the ids of its jobs. */
  readonly node: number
  /**
   * Shows the server that this owner lives. Returns false if its row is gone, by which others find it.
   *
   * @throws StoreFailure, of reason `owner` if another engine has the schema
   */
  beat(): boolean
  /** Reads the jobs that others have enqueued by SQL. */
  readonly inbox: ReadInbox
}

export function makeStore(connection: Connection, lock: Lock, claimed: Claim): PostgresStore {
  const marks = new LowWaterMarks()
  const reads = prepareReads(connection, marks)
  const ownership = new Ownership(connection, lock, claimed, marks)
  let closed = false

  const write = (effects: Effects, header: TurnHeader): void => {
    // If the connection broke before the server had the turn, it is sent once more.
    if (ownership.take(effects, header) || ownership.take(effects, header)) return
    throw new StoreFailure('before', 'io', 'the connection broke twice: nothing was written')
  }

  return {
    ...reads,
    care: undefined,
    node: claimed.node,
    get epoch() {
      return ownership.epoch
    },
    read: (questions) => connection.together(questions.map((question) => () => answersOf(reads, [question])[0])),
    write,
    reopen: () => {
      if (closed) throw new StoreFailure('before', 'io', 'the store is closed')
      ownership.reopen()
    },
    beat: () => ownership.beat(),
    inbox: prepareInbox(connection),
    close: () => {
      if (closed) return
      closed = true
      connection.close()
    },
  }
}
