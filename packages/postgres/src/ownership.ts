/** The ownership of a schema by an engine: the epoch in which it may write, and the lock that keeps others from trying. */
import { type Effects, StoreFailure, type TurnHeader } from '@millrace/core/kernel'
import type { Statement } from './bridge/statement.ts'
import type { Connection } from './connection.ts'
import type { LowWaterMarks } from './lowWaterMarks.ts'
import { type Claim, claimAgain } from './open/claim.ts'
import type { Lock } from './open/lock.ts'
import { prepareWrite, type Write } from './write/write.ts'

const TAKEN_OVER = 'another engine has taken the schema over'

/** A plan that was made when a table was nearly empty reads all of it, also when it has filled since. The next turns make new ones. */
const FORGET_PLANS: Statement = { text: 'DISCARD PLANS', values: [] }
const LAST_EPOCH: Statement = { text: 'SELECT epoch FROM journal ORDER BY turn DESC LIMIT 1', values: [] }
const isAnnounced = (epoch: number): Statement => ({
  text: 'SELECT 1 FROM owner WHERE epoch = $1 AND schema_id = schema_id()',
  values: [epoch],
})

export class Ownership {
  readonly #connection: Connection
  readonly #lock: Lock
  readonly #marks: LowWaterMarks
  #owned: Claim
  /** The row of the owner has this epoch, also when the schema was claimed again since. */
  readonly #announced: Statement
  #write: Write
  /** True if it is unknown which turn was the last one: the journal has to be asked before the next. */
  #inDoubt = false
  /** The opening of the connection in which the schema was claimed. Another one may be to another server. */
  #opening: number

  constructor(connection: Connection, lock: Lock, claimed: Claim, marks: LowWaterMarks) {
    this.#connection = connection
    this.#lock = lock
    this.#owned = claimed
    this.#announced = isAnnounced(claimed.epoch)
    this.#marks = marks
    this.#write = prepareWrite(connection, claimed, claimed.turn, marks)
    this.#opening = connection.opening
  }

  get epoch(): number {
    return this.#owned.epoch
  }

  /** Writes a turn. Returns false if the connection broke before it was written, and the schema is still this engine's. @throws StoreFailure */
  take(effects: Effects, header: TurnHeader): boolean {
    if (this.#inDoubt || this.#connection.opening !== this.#opening) this.reopen()
    const turn = this.#write.next()
    const { epoch } = this.#owned
    try {
      this.#write.turn(effects, header)
      return true
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
      // The turn of that number may be this engine's own: one that was cut off, and committed since.
      this.#inDoubt = error.phase === 'commit' || error.reason === 'owner'
      if (error.phase !== 'commit') throw error
      const { wasWritten, failure } = this.#lookUp(turn, epoch, header.at)
      this.#inDoubt = failure !== undefined
      if (wasWritten) return true
      if (failure !== undefined) throw failure
      return false
    }
  }

  /**
   * Connects again, and continues behind the last turn. A turn of unknown outcome may still go on, so the schema is claimed: the claim waits
   * for it. @throws StoreFailure
   */
  reopen(): void {
    const failure = this.#recover(0)
    if (failure !== undefined) throw failure
    this.#inDoubt = false
  }

  /** Returns false if the schema does not say that this engine owns it. @throws StoreFailure, of reason `owner` if another engine has the schema */
  beat(): boolean {
    const [, last, row] = this.#connection.many([FORGET_PLANS, LAST_EPOCH, this.#announced])
    if (last?.[0]?.[0] !== this.#owned.epoch) throw new StoreFailure('before', 'owner', TAKEN_OVER)
    this.#lock.keep()
    return row?.length === 1
  }

  /** Finds out whether a turn was written. Whatever keeps it from asking, the outcome of the turn is unknown. */
  #lookUp(turn: number, epoch: number, at: number): { readonly wasWritten: boolean; readonly failure: StoreFailure | undefined } {
    try {
      const failure = this.#recover(at)
      return { wasWritten: this.#wasWritten(turn, epoch), failure }
    } catch (error) {
      throw error instanceof StoreFailure ? new StoreFailure('commit', 'io', error.message, { cause: error }) : error
    }
  }

  /**
   * Connects again and claims the schema behind its own epoch. The claim waits for a turn of the broken connection that may still go on, so
   * that from then on the journal says whether there was one. Returns the failure if another engine was first: its claim has waited, too.
   */
  #recover(at: number): StoreFailure | undefined {
    this.#connection.reopen()
    try {
      const claimed = claimAgain(this.#connection, at, this.#owned.epoch)
      // The memory of this engine has turns that are not stored. It may not write again: its epoch is over.
      if (claimed.turn < this.#write.next()) return new StoreFailure('before', 'owner', 'the server has lost turns that it had committed')
      this.#own(claimed)
      return undefined
    } catch (error) {
      if (error instanceof StoreFailure && error.reason === 'owner') return error
      throw error
    }
  }

  #own(owned: Claim): void {
    this.#owned = owned
    this.#write = prepareWrite(this.#connection, owned, owned.turn, this.#marks)
    this.#opening = this.#connection.opening
    this.#lock.keep()
  }

  #wasWritten(turn: number, epoch: number): boolean {
    return this.#connection.pluck<number>('SELECT epoch FROM journal WHERE turn = $1', turn)[0] === epoch
  }
}
