/** Lines to the server that the stores of a worker use one after the other: to start a thread and to connect takes longer than most tests. */
import { Bridge, type BridgeTo, type StoreBridge } from '../../packages/postgres/src/bridge/bridge.ts'
import type { Statement } from '../../packages/postgres/src/bridge/statement.ts'

const plain = (text: string): Statement => ({ text, values: [] })

/** Gives back what a session has, and lets it wait for the next store. */
const PARK = ['SELECT pg_advisory_unlock_all()', 'SET idle_session_timeout TO 0'].map(plain)

/** By the server and the settings. */
const waiting = new Map<string, KeptBridge[]>()

/** Returns a bridge that a former store has left, or a new one. A store that closes it leaves it to the next. */
export const keptBridge: BridgeTo = (target) => {
  const key = JSON.stringify(target)
  const others = waiting.get(key) ?? []
  waiting.set(key, others)
  return others.pop() ?? new KeptBridge(new Bridge(target), target.setUp.map(plain), others)
}

class KeptBridge implements StoreBridge {
  readonly #bridge: Bridge
  readonly #setUp: readonly Statement[]
  readonly #others: KeptBridge[]
  #isParked = false

  constructor(bridge: Bridge, setUp: readonly Statement[], others: KeptBridge[]) {
    this.#bridge = bridge
    this.#setUp = setUp
    this.#others = others
  }

  get backend(): number {
    return this.#bridge.backend
  }

  get opening(): number {
    return this.#bridge.opening
  }

  connect(): ReturnType<Bridge['connect']> {
    const wasParked = this.#isParked
    this.#isParked = false
    return wasParked && this.#bridge.run(this.#setUp).error === undefined ? undefined : this.#bridge.connect()
  }

  run(statements: readonly Statement[]): ReturnType<Bridge['run']> {
    return this.#bridge.run(statements)
  }

  transact(statements: readonly Statement[]): ReturnType<Bridge['transact']> {
    return this.#bridge.transact(statements)
  }

  close(): void {
    if (this.#isParked) return
    this.#isParked = true
    // If that fails, the next store connects anew.
    this.#bridge.run(PARK)
    this.#others.push(this)
  }
}
