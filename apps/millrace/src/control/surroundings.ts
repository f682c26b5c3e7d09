/** The clock and the randomness of the system. */
import { randomBytes } from 'node:crypto'
import type { Surroundings } from './tokens.ts'

export const SYSTEM: Surroundings = { now: () => Date.now(), randomBytes: (count) => randomBytes(count) }
