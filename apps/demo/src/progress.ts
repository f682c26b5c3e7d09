/** Shows how far a run is: a bar on a terminal, elsewhere a plain line now and then. On stderr, so that stdout is the report alone. */
import { SingleBar } from 'cli-progress'
import { count } from './numbers.ts'

export interface Snapshot {
  /** Jobs in a final state, of the whole run. */
  readonly done: number
  /** Jobs known so far; grows while folders are scanned. */
  readonly total: number
  readonly failed: number
  /** In this session. */
  readonly perSecond: number
}

export interface Progress {
  show(snapshot: Snapshot): void
  stop(): void
}

export function createProgress(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? new Bar(stream) : new Lines(stream)
}

class Bar implements Progress {
  readonly #bar: SingleBar

  constructor(stream: NodeJS.WriteStream) {
    this.#bar = new SingleBar({
      format: '[{bar}] {percentage}% | {value} of {total} jobs | {rate} jobs/s | {failed} failed',
      formatValue: (value, _options, type) => (type === 'value' || type === 'total' ? count(value) : String(value)),
      barsize: 30,
      stream,
      hideCursor: true,
      clearOnComplete: true,
      // Ctrl-C is the run's to handle.
      gracefulExit: false,
    })
    this.#bar.start(1, 0, { rate: 0, failed: 0 })
  }

  show({ done, total, failed, perSecond }: Snapshot): void {
    this.#bar.setTotal(total)
    this.#bar.update(done, { rate: count(perSecond), failed: count(failed) })
  }

  stop(): void {
    this.#bar.stop()
  }
}

const EVERY_MS = 2_000

class Lines implements Progress {
  readonly #stream: NodeJS.WriteStream
  #lastMono = performance.now()

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  show({ done, total, failed, perSecond }: Snapshot): void {
    const now = performance.now()
    if (now - this.#lastMono < EVERY_MS) return
    this.#lastMono = now
    this.#stream.write(`${count(done)} of ${count(total)} jobs, ${count(perSecond)} jobs/s, ${count(failed)} failed\n`)
  }

  stop(): void {}
}
