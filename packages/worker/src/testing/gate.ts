/** A handler that waits until the test ends it. */
import type { Context } from '../handlerContext.ts'

interface Entered {
  readonly context: Context
  resolve(output?: unknown): void
  reject(error: unknown): void
}

export interface Gate {
  readonly run: (context: Context) => Promise<unknown>
  readonly entered: readonly Entered[]
  /** Returns the run at that place, from 0; it must have entered. */
  at(index: number): Entered
}

export function gate(): Gate {
  const entered: Entered[] = []
  return {
    entered,
    run: (context) => new Promise((resolve, reject) => void entered.push({ context, resolve, reject })),
    at: (index) => {
      const found = entered[index]
      if (found === undefined) throw new Error(`${entered.length} runs have entered, not ${index + 1}`)
      return found
    },
  }
}
