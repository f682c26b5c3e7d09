/** What a handler awaits until a test opens it; tells of each that has entered. */
import { EventEmitter } from 'node:events'

export interface Gate extends EventEmitter<{ entered: [] }> {
  /** How often it was entered. */
  readonly runs: number
  readonly wait: () => Promise<void>
  open(): void
}

export function gate(): Gate {
  const resolvers: (() => void)[] = []
  const emitter = new EventEmitter<{ entered: [] }>()
  return Object.defineProperties(emitter, {
    runs: { get: () => resolvers.length },
    wait: {
      value: () => {
        emitter.emit('entered')
        return new Promise<void>((resolve) => void resolvers.push(resolve))
      },
    },
    open: {
      value: () => {
        for (const resolve of resolvers) resolve()
      },
    },
  }) as Gate
}
