/** Lines to the server that the stores of a worker use one after the other: to start a thread and to connect takes longer than most tests. */
import { Line, type LineTo, type StoreLine } from '../../packages/postgres/src/line/line.ts'
import type { Statement } from '../../packages/postgres/src/line/statement.ts'

const plain = (text: string): Statement => ({ text, values: [] })

/** Gives back what a session has, and lets it wait for the next store. */
const PARK = ['SELECT pg_advisory_unlock_all()', 'SET idle_session_timeout TO 0'].map(plain)

/** By the server and the settings. */
const waiting = new Map<string, KeptLine[]>()

/** Returns a line that a former store has left, or a new one. A store that closes it leaves it to the next. */
export const keptLine: LineTo = (target) => {
  const key = JSON.stringify(target)
  const others = waiting.get(key) ?? []
  waiting.set(key, others)
  return others.pop() ?? new KeptLine(new Line(target), target.setUp.map(plain), others)
}

class KeptLine implements StoreLine {
  readonly #line: Line
  readonly #setUp: readonly Statement[]
  readonly #others: KeptLine[]
  #isParked = false

  constructor(line: Line, setUp: readonly Statement[], others: KeptLine[]) {
    this.#line = line
    this.#setUp = setUp
    this.#others = others
  }

  get backend(): number {
    return this.#line.backend
  }

  get opening(): number {
    return this.#line.opening
  }

  connect(): ReturnType<Line['connect']> {
    const wasParked = this.#isParked
    this.#isParked = false
    return wasParked && this.#line.run(this.#setUp).error === undefined ? undefined : this.#line.connect()
  }

  run(statements: readonly Statement[]): ReturnType<Line['run']> {
    return this.#line.run(statements)
  }

  transact(statements: readonly Statement[]): ReturnType<Line['transact']> {
    return this.#line.transact(statements)
  }

  close(): void {
    if (this.#isParked) return
    this.#isParked = true
    // If that fails, the next store connects anew.
    this.#line.run(PARK)
    this.#others.push(this)
  }
}
