/** The memory of this process and of its writer thread, sampled as work goes on: by progress, not by the clock. */
import type { Worker } from 'node:worker_threads'

const MIB = 2 ** 20

export interface Sample {
  /** How far the work has come, from 0 to 1. */
  readonly at: number
  readonly rssMib: number
  readonly heapMib: number
  /** Of the writer thread; 0 while it has none. */
  readonly writerHeapMib: number
  /** Beyond both heaps, used or not: buffers, messages under way, what SQLite holds. */
  readonly outsideMib: number
}

/** What a program tells of its memory at its end. */
export interface MemoryReport {
  readonly samples: readonly Sample[]
  /** Before the work. */
  readonly baseMib: number
  /** The most that the process ever had. */
  readonly peakMib: number
}

/** To be made before the engine is opened. */
export class MemoryWatch {
  readonly samples: Sample[] = []
  #writer: Worker | undefined
  #baseMib = 0

  constructor() {
    process.on('worker', (worker: Worker) => {
      if (worker.threadName === 'millrace-writer') this.#writer = worker
    })
  }

  /** All is open, nothing has been asked of it. */
  begin(): void {
    this.#baseMib = process.memoryUsage.rss() / MIB
  }

  async sample(at: number): Promise<void> {
    const { rss, heapUsed, heapTotal } = process.memoryUsage()
    // The writer's thread alone keeps no process alive while it is asked.
    const alive = setInterval(() => {}, 1_000)
    const writer = await this.#writer?.getHeapStatistics().catch(() => undefined)
    clearInterval(alive)
    const { used_heap_size: used = 0, total_physical_size: physical = 0 } = writer ?? {}
    const outsideMib = (rss - heapTotal - physical) / MIB
    this.samples.push({ at, rssMib: rss / MIB, heapMib: heapUsed / MIB, writerHeapMib: used / MIB, outsideMib })
  }

  report(): MemoryReport {
    return { samples: this.samples, baseMib: this.#baseMib, peakMib: process.resourceUsage().maxRSS / 1_024 }
  }
}

/** Garbage comes and goes: of so many samples in a row the lowest counts. */
const ROW = 3

/** By how much a straight line through the lows of the second half rises, from the first to the last. */
export function growthOfSecondHalf(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const half = samples.filter(({ at }) => at >= 0.5)
  const late = half.flatMap((_, index) => (index % ROW === 0 ? [lowest(half.slice(index, index + ROW), read)] : []))
  if (late.length < 5) throw new Error(`${half.length} samples of the second half are too few to tell`)
  const meanX = mean(late.map(({ at }) => at))
  const meanY = mean(late.map(read))
  let covariance = 0
  let variance = 0
  for (const sample of late) {
    covariance += (sample.at - meanX) * (read(sample) - meanY)
    variance += (sample.at - meanX) ** 2
  }
  return (covariance / variance) * ((late.at(-1) as Sample).at - (late[0] as Sample).at)
}

function lowest(row: readonly Sample[], read: (sample: Sample) => number): Sample {
  return row.reduce((low, sample) => (read(sample) < read(low) ? sample : low))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
