/** What happened in a seed, as lines; and what must never have. The same seed makes the same lines, byte for byte. */
import { createHash } from 'node:crypto'

/** Characters: each call has its price. */
const DIGESTED_TOGETHER = 65_536

export class History {
  readonly violations: string[] = []
  /** Faults and rare paths by name. */
  readonly met: Record<string, number> = {}
  readonly #mono: () => number
  readonly #digest = createHash('sha256')
  readonly #lines: string[] | undefined
  #undigested = ''

  constructor(mono: () => number, keepLines: boolean) {
    this.#mono = mono
    this.#lines = keepLines ? [] : undefined
  }

  get lines(): readonly string[] {
    return this.#lines ?? []
  }

  get mono(): number {
    return this.#mono()
  }

  get hash(): string {
    this.#digestAll()
    return this.#digest.copy().digest('hex')
  }

  note(text: string): void {
    const line = `${this.#mono().toFixed(3)} ${text}\n`
    this.#undigested += line
    if (this.#undigested.length > DIGESTED_TOGETHER) this.#digestAll()
    this.#lines?.push(line.trimEnd())
  }

  /** A rare path was taken. */
  meet(what: string): void {
    this.met[what] = (this.met[what] ?? 0) + 1
  }

  violate(invariant: number, text: string): void {
    const line = `invariant ${invariant}: ${text}`
    this.note(line)
    this.violations.push(`${line} (at ${this.#mono().toFixed(1)} ms)`)
  }

  /** Where it does not hold, that is a violation. */
  hold(holds: boolean, invariant: number, text: () => string): void {
    if (!holds) this.violate(invariant, text())
  }

  #digestAll(): void {
    this.#digest.update(this.#undigested)
    this.#undigested = ''
  }
}
