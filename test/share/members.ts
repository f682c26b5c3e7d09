/** Starts processes that share a store, and waits for what they tell: signals, never time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { OpenPostgresOptions } from '@millrace/engine'
import { onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./member.ts', import.meta.url))

export type Fact = Readonly<Record<string, unknown>>

export class Member {
  readonly facts: Fact[] = []
  readonly #child: ChildProcess
  readonly #waiting = new Set<() => void>()
  readonly #tell: (fact: Fact, member: Member) => void

  private constructor(child: ChildProcess, tell: (fact: Fact, member: Member) => void) {
    this.#child = child
    this.#tell = tell
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => this.#heard(JSON.parse(line) as Fact))
    child.on('exit', () => this.#wake())
    // It may be killed while it is told something.
    child.stdin?.on('error', () => {})
  }

  /** Resolves when it has opened the store: a file, or what the options name. */
  static async start(
    store: string | OpenPostgresOptions,
    role: 'producer' | 'worker',
    tell: (fact: Fact, member: Member) => void = () => {},
  ): Promise<Member> {
    const child = spawn(process.execPath, [PROGRAM, typeof store === 'string' ? store : JSON.stringify(store), role], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const member = new Member(child, tell)
    await member.until((fact) => 'opened' in fact)
    return member
  }

  say(order: Fact): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.stdin?.write(`${JSON.stringify(order)}\n`)
  }

  /** The first fact like that, also one that is told already. */
  async until(like: (fact: Fact) => boolean): Promise<Fact> {
    for (;;) {
      const found = this.facts.find(like)
      if (found !== undefined) return found
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`the process has ended; it told ${JSON.stringify(this.facts)}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  get pid(): number {
    return this.#child.pid as number
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  async stop(): Promise<void> {
    this.say({ stop: true })
    await this.until((fact) => fact['stopped'] === true)
  }

  #heard(fact: Fact): void {
    this.facts.push(fact)
    this.#tell(fact, this)
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
