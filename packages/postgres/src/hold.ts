/** An engine's hold of its schema: the epoch that it may write in, and the lock that keeps others from trying. */
import { type Effects, StoreFailure, type TurnHeader } from '@millrace/core/kernel'
import type { Connection } from './connection.ts'
import { type Claim, claim } from './open/claim.ts'
import type { Lock } from './open/lock.ts'
import { prepareWrite, type Write } from './write/write.ts'

const TAKEN_OVER = 'another engine has taken the schema over'

export class Hold {
  readonly #connection: Connection
  readonly #lock: Lock
  #owned: Claim
  #write: Write
  /** True if it is unknown which turn was the last one: the journal has to be asked before the next. */
  #inDoubt = false

  constructor(connection: Connection, lock: Lock, claimed: Claim) {
    this.#connection = connection
    this.#lock = lock
    this.#owned = claimed
    this.#write = prepareWrite(connection, claimed, claimed.turn)
  }

  get epoch(): number {
    return this.#owned.epoch
  }

  /** Writes a turn. Returns false if the connection broke before it was written, and the schema is still this engine's. @throws StoreFailure */
  take(effects: Effects, header: TurnHeader): boolean {
    if (this.#inDoubt) this.reopen()
    const turn = this.#write.next()
    const { epoch } = this.#owned
    try {
      this.#write.turn(effects, header)
      return true
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.phase !== 'commit') throw error
      this.#inDoubt = true
      const failure = this.#recover(header.at)
      const wasWritten = this.#wasWritten(turn, epoch)
      this.#inDoubt = failure !== undefined
      if (wasWritten) return true
      if (failure !== undefined) throw failure
      return false
    }
  }

  /** Connects again, and continues behind the last turn: it has been written if its commit was of unknown outcome. @throws StoreFailure */
  reopen(): void {
    this.#connection.reopen()
    const { turn, epoch } = this.#last()
    if (epoch !== this.#owned.epoch) throw new StoreFailure('before', 'owner', TAKEN_OVER)
    this.#own({ ...this.#owned, turn })
    this.#inDoubt = false
  }

  /** @throws StoreFailure, of reason `owner` if another engine has the schema */
  beat(): void {
    if (this.#last().epoch !== this.#owned.epoch) throw new StoreFailure('before', 'owner', TAKEN_OVER)
    this.#keepLock()
  }

  /**
   * Connects again and claims the schema behind its own epoch. The claim waits for a turn of the broken connection that may still go on, so
   * that from then on the journal says whether there was one. Returns the failure if another engine was first: its claim has waited, too.
   */
  #recover(at: number): StoreFailure | undefined {
    this.#connection.reopen()
    try {
      this.#own(claim(this.#connection, at, this.#owned.epoch))
      return undefined
    } catch (error) {
      if (error instanceof StoreFailure && error.reason === 'owner') return error
      throw error
    }
  }

  #own(owned: Claim): void {
    this.#owned = owned
    this.#write = prepareWrite(this.#connection, owned, owned.turn)
    this.#keepLock()
  }

  /** Takes the lock again if the connection was opened again. If that fails, the next beat tries. */
  #keepLock(): void {
    try {
      this.#lock.takeBack()
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error
    }
  }

  #wasWritten(turn: number, epoch: number): boolean {
    return this.#connection.pluck<number>('SELECT epoch FROM journal WHERE turn = $1', turn)[0] === epoch
  }

  #last(): Pick<Claim, 'turn' | 'epoch'> {
    const sql = 'SELECT turn, epoch FROM journal ORDER BY turn DESC LIMIT 1'
    const [turn, epoch] = this.#connection.get<[number, number]>(sql) ?? [0, 0]
    return { turn, epoch }
  }
}
