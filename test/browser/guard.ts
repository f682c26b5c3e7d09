/** Collects what no page of Millrace may do: errors, violations of its content security policy, requests that leave its origin. */
import { EventEmitter, once } from 'node:events'

export class Guard {
  readonly #problems: string[] = []
  readonly #expected: RegExp[] = []
  readonly #emitter = new EventEmitter<{ problem: [] }>()

  /** Notes a problem. */
  add(problem: string): void {
    this.#problems.push(problem)
    this.#emitter.emit('problem')
  }

  /** Makes a problem that fits a part of the test, which fails without it. The promise resolves when it has happened. */
  async expect(pattern: RegExp): Promise<void> {
    this.#expected.push(pattern)
    while (!this.#has(pattern)) await once(this.#emitter, 'problem')
  }

  /** Waits until each expected problem was reported, for as long as `signal` allows: some are behind the action that caused them. */
  async settle(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#expected.every((pattern) => this.#has(pattern))) {
      await once(this.#emitter, 'problem', { signal }).catch(() => {})
    }
  }

  /** Returns the problems that nobody expected, and the expected ones that did not happen. */
  problems(): string[] {
    const isExpected = (problem: string) => this.#expected.some((pattern) => pattern.test(problem))
    const absent = this.#expected.filter((pattern) => !this.#has(pattern))
    return [...this.#problems.filter((problem) => !isExpected(problem)), ...absent.map((pattern) => `expected, but absent: ${pattern}`)]
  }

  #has(pattern: RegExp): boolean {
    return this.#problems.some((problem) => pattern.test(problem))
  }
}
