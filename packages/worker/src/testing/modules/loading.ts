/** A handler module that cannot be loaded before the test allows it. */
import { counters, LOADABLE } from './counters.ts'

if (Atomics.load(counters(), LOADABLE) === 0) throw new Error('not yet')

export function handler(): string {
  return 'loaded'
}
