/** Reads what BullMQ keeps in Redis, with commands that only read. The getters of BullMQ write: they remove markers and empty schedulers. */
import { Redis } from 'ioredis'
import { SourceError } from '../errors.ts'
import { addressOf } from '../mapping.ts'

export type Command = readonly [name: string, ...args: (string | number)[]]
export type Hash = Readonly<Record<string, string>>

const SCAN_COUNT = 1_000

export class RedisReader {
  readonly at: string
  readonly #redis: Redis

  constructor(redis: Redis, url: string) {
    this.#redis = redis
    this.at = addressOf(url)
  }

  /** @throws SourceError */
  static async open(url: string): Promise<RedisReader> {
    // The check for readiness asks for more than to read.
    const redis = new Redis(url, { lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null, maxRetriesPerRequest: 1 })
    let last: Error | undefined
    redis.on('error', (error) => {
      last = error
    })
    try {
      await redis.connect()
    } catch (cause) {
      redis.disconnect()
      const reason = (last ?? (cause as Error)).message
      throw new SourceError(`cannot connect to Redis at ${addressOf(url)}: ${reason}`, { cause })
    }
    return new RedisReader(redis, url)
  }

  /** Sends commands at once, and returns their answers. */
  async ask(commands: readonly Command[]): Promise<readonly unknown[]> {
    if (commands.length === 0) return []
    let answers: readonly [Error | null, unknown][] | null
    try {
      answers = await this.#redis.pipeline(commands.map((command) => [...command])).exec()
    } catch (cause) {
      throw this.#failure(cause as Error)
    }
    return (answers ?? []).map(([error, answer]) => {
      if (error !== null) throw this.#failure(error)
      return answer
    })
  }

  async one(command: Command): Promise<unknown> {
    return (await this.ask([command]))[0]
  }

  hashes(keys: readonly string[]): Promise<readonly Hash[]> {
    return this.ask(keys.map((key) => ['hgetall', key])) as Promise<readonly Hash[]>
  }

  /** Yields the keys that match a pattern. A key may come twice. */
  async *keys(pattern: string): AsyncGenerator<string> {
    let cursor = '0'
    do {
      const [next, keys] = await this.#redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT).catch((cause: Error) => {
        throw this.#failure(cause)
      })
      yield* keys
      cursor = next
    } while (cursor !== '0')
  }

  close(): void {
    this.#redis.disconnect()
  }

  #failure(cause: Error): SourceError {
    return new SourceError(`cannot read Redis at ${this.at}: ${cause.message}`, { cause })
  }
}

/** Escapes a string for the pattern of a scan. */
export function globOf(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}
