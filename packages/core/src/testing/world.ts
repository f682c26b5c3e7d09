/** Turns over a MemoryStore, as the engine's actor takes them. After every turn the tables are compared with the store (audit.ts). */
import { StoreTurns, type Turned, type TurnOptions } from '../../../testkit/src/storeConformance/storeTurns.ts'
import type { Command } from '../operations.ts'
import { audit } from './audit.ts'
import { MemoryStore } from './memoryStore.ts'
import { plainCalendar } from './plainCalendar.ts'

export {
  attaching,
  codeOf,
  enqueueing,
  flowOf,
  type Granted,
  keyOfJob,
  type TestNode,
  type Turned,
} from '../../../testkit/src/storeConformance/storeTurns.ts'

export interface WorldOptions extends TurnOptions {
  readonly store?: MemoryStore
  /** False for tests of single functions, which may do without. All others are audited after every turn. */
  readonly audited?: boolean
}

/** A store in another process answers each round in one round trip: matching jobs, their keys, the holders of these; arrivals. */
const ROUNDS_MAX = 4

export class World extends StoreTurns<MemoryStore> {
  readonly #audited: boolean
  #isLowered = false

  constructor({ store = new MemoryStore(), audited = true, settings, random }: WorldOptions = {}) {
    super(store, { settings: { calendar: plainCalendar, ...settings }, ...(random && { random }) })
    this.#audited = audited
  }

  override turn(...commands: readonly Command[]): Turned {
    const { rounds } = this.store
    rounds.length = 0
    this.#isLowered ||= commands.some((each) => 'changes' in each && 'maxAttempts' in each.changes)
    const turned = super.turn(...commands)
    if (rounds.length > ROUNDS_MAX) throw new Error(`a turn asked its store ${rounds.length} times: ${rounds.join(' | ')}`)
    return turned
  }

  override audit(): void {
    if (this.#audited) audit(this.store, this.tables, this.#isLowered)
  }
}
