/** What a program that was killed again and again has said, and what must be true of it: each line holds from then on, for ever. */

export class History {
  /** Acknowledged enqueues. */
  readonly enqueued = new Set<string>()
  /** Acknowledged ends. */
  readonly ended = new Map<string, 'completed' | 'cancelled'>()
  readonly runs = new Map<string, { readonly run: number; readonly attempt: number }>()
  readonly violations: string[] = []
  #handOuts = 0
  readonly #keys = new Map<string, string>()

  take(lines: readonly string[]): void {
    for (const line of lines) {
      const [what, ...words] = line.split(' ') as [string, ...string[]]
      if (what === 'run') this.started(words[0] as string, Number(words[1]), Number(words[2]))
      else if (what === 'enqueued') this.enqueued.add(words[0] as string)
      else if (what === 'completed' || what === 'cancelled') this.ended.set(words[0] as string, what)
      else if (what === 'keyed') this.#keyed(words[0] as string, words[1] as string)
    }
  }

  started(id: string, run: number, attempt: number): void {
    this.#handOuts++
    const before = this.runs.get(id)
    if (this.ended.has(id)) this.violations.push(`2: job ${id} was ${this.ended.get(id)}, and is handed out again`)
    if (before !== undefined && run <= before.run) this.violations.push(`10: run ${run} of job ${id} after run ${before.run}`)
    if (before !== undefined && attempt < before.attempt) this.violations.push(`11: attempt ${attempt} of ${id} after ${before.attempt}`)
    if (attempt > run || attempt < 1) this.violations.push(`11: attempt ${attempt} in run ${run} of job ${id}`)
    this.runs.set(id, { run, attempt })
  }

  get summary(): string {
    return `${this.enqueued.size} enqueues and ${this.ended.size} ends acknowledged, ${this.#handOuts} hand-outs, ${this.#keys.size} keys, ${this.violations.length} violations`
  }

  #keyed(key: string, id: string): void {
    const first = this.#keys.get(key)
    if (first !== undefined && first !== id) this.violations.push(`25: key ${key} made job ${first} and job ${id}`)
    this.#keys.set(key, id)
    this.enqueued.add(id)
  }
}
