/** The cost of the test file that runs: it counts what the file has started, opened and waited for so far. */
export interface Cost {
  /** Child processes that the file's own process has started. */
  processes: number
  /** Threads: an engine that is opened has one, and one for its lists. */
  threads: number
  /** Pages of a browser. */
  pages: number
  /** Schemas of Postgres. */
  schemas: number
  /** Timers of 50 ms and more that test code has set, and waited for to the end. */
  waits: number
  /** Processor time in milliseconds: of this process, and of its children that have ended. It is 0 on systems without /proc. */
  cpuMs: number
}

declare module 'vitest' {
  interface TaskMeta {
    cost?: Cost
  }
}

/** A process runs many files, one after the other, and may load this module for each. */
const KEY = Symbol.for('millrace.test.cost')
const place = globalThis as { [KEY]?: Cost }

const NOTHING: Cost = { processes: 0, threads: 0, pages: 0, schemas: 0, waits: 0, cpuMs: 0 }
place[KEY] ??= { ...NOTHING }
export const cost = place[KEY]

/** Counts from 0 again, because another file begins. */
export function beginFile(): void {
  Object.assign(cost, NOTHING)
}
