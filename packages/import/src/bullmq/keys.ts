/** The names of BullMQ's keys in Redis. */

export class Keys {
  readonly #prefix: string
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Returns the key of a job, or of another thing in a queue: a state, or `meta`. */
  of(queue: string, name: string): string {
    return `${this.#prefix}:${queue}:${name}`
  }

  /** Returns the queue and the id of a job's key; undefined for a key under another prefix. */
  split(key: string): { readonly queue: string; readonly id: string } | undefined {
    if (!key.startsWith(`${this.#prefix}:`)) return undefined
    const rest = key.slice(this.#prefix.length + 1)
    const colon = rest.indexOf(':')
    return colon < 0 ? undefined : { queue: rest.slice(0, colon), id: rest.slice(colon + 1) }
  }

  get prefix(): string {
    return this.#prefix
  }
}

/** Returns the time of a job in the set of delayed jobs: the low 12 bits of its score order jobs of one millisecond. */
export function delayedUntil(score: number): number {
  return Math.floor(score / 4_096)
}
