/** What befalls transactions: drawn once for each, at a statement that is drawn too. */
import { LIMITS } from '@millrace/core'
import type { Ballast } from '../../../packages/sqlite/src/ballast.ts'
import { sqliteError } from '../../../packages/sqlite/src/driver.ts'
import type { Chance } from './chance.ts'
import type { Gate } from './database.ts'
import type { History } from './history.ts'
import type { Plan } from './plan.ts'
import type { Timeline } from './timeline.ts'

/** Thrown where the engine dies: nothing of it is heard of any more. */
export class Crash extends Error {}

const STATEMENTS_MAX = 14

type Trouble = 'crash' | 'io' | 'lost' | 'phantom' | 'committedCrash' | 'statementError'

export interface StoreFaultsOptions {
  readonly plan: Plan
  readonly chance: Chance
  /** Of reads, so that seeds are what they were without them. */
  readonly readChance: Chance
  readonly timeline: Timeline
  readonly history: History
  /** The engine is to die here. */
  readonly crash: (where: string) => void
}

export class StoreFaults implements Gate {
  /** Whether the last transaction was committed, whatever its engine was told. */
  landed = false
  healed = false
  fullUntilMono = -1
  busyUntilMono = -1
  /** Whether a full disk has room once the ballast is gone. */
  ballastHelps = true
  readonly ballast: Ballast
  readonly #options: StoreFaultsOptions
  #released = false
  #trouble: Trouble | undefined
  #at = 0
  #count = 0

  constructor(options: StoreFaultsOptions) {
    this.#options = options
    this.ballast = {
      neededBytes: 0,
      release: () => {
        this.#released = true
        options.history.meet('ballastReleased')
      },
      restore: () => {
        if (this.#full) return false
        this.#released = false
        return true
      },
    }
  }

  get #full(): boolean {
    return this.#options.timeline.mono < this.fullUntilMono && !this.healed
  }

  begin(): void {
    const { timeline, history, plan, chance } = this.#options
    this.landed = false
    this.#count = 0
    this.#trouble = this.healed ? undefined : this.#draw()
    this.#at = chance.whole(1, STATEMENTS_MAX)
    if (timeline.mono < this.busyUntilMono && !this.healed) {
      history.meet('busy')
      throw sqliteError('simulated lock of another program', 'SQLITE_BUSY')
    }
    if (this.#trouble === 'crash' && chance.hits(0.15)) this.#crash('BEGIN')
    if (!this.healed && chance.hits(plan.slowCommit)) {
      history.meet('slowCommit')
      timeline.stall(chance.small(3_000))
    }
  }

  /** The disk is slow to answer a question: longer than a turn has time for, now and then. */
  read(): void {
    const { plan, readChance, timeline, history } = this.#options
    if (this.healed || !readChance.hits(4 * plan.slowCommit)) return
    history.meet('slowRead')
    timeline.stall(readChance.small(3 * LIMITS.turnMs))
  }

  statement(): void {
    this.#count++
    if (this.#full && !(this.#released && this.ballastHelps) && this.#count > 1) {
      this.#options.history.meet('full')
      throw sqliteError('simulated full disk', 'SQLITE_FULL')
    }
    if (this.#count === this.#at) this.#happens()
  }

  commit(): { readonly runs: boolean; readonly fails: boolean } {
    if (this.#count < this.#at) this.#happens()
    const lost = this.#trouble === 'lost'
    const phantom = this.#trouble === 'phantom'
    if (lost || phantom) this.#options.history.meet(lost ? 'commitLost' : 'phantomCommit')
    this.landed = !lost
    return { runs: !lost, fails: lost || phantom }
  }

  committed(): void {
    if (this.#trouble === 'committedCrash') this.#crash('after COMMIT')
  }

  #draw(): Trouble | undefined {
    const { plan, chance } = this.#options
    // One command's fault is there again when its turn is decided anew.
    if (this.#trouble === 'statementError' && chance.hits(0.5)) return 'statementError'
    if (chance.hits(plan.engineCrash)) return chance.hits(0.25) ? 'committedCrash' : 'crash'
    if (chance.hits(plan.ioError)) return 'io'
    if (chance.hits(plan.commitError)) return chance.pick(['lost', 'phantom'] as const)
    return chance.hits(plan.statementError) ? 'statementError' : undefined
  }

  #happens(): void {
    if (this.#trouble === 'crash') this.#crash(this.#count < this.#at ? 'before COMMIT' : 'a statement')
    if (this.#trouble === 'io') {
      this.#options.history.meet('ioError')
      throw sqliteError('simulated error of the disk', 'SQLITE_IOERR_WRITE')
    }
    if (this.#trouble === 'statementError') {
      this.#options.history.meet('statementError')
      throw sqliteError('simulated error of a statement', 'SQLITE_CONSTRAINT_CHECK')
    }
  }

  #crash(where: string): never {
    this.#options.history.meet(`crash at ${where}`)
    this.#options.crash(where)
    throw new Crash(`the engine dies at ${where}`)
  }
}
