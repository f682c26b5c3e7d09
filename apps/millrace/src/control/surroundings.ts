/** Where time and chance enter. */
import { randomBytes } from 'node:crypto'
import type { Surroundings } from './tokens.ts'

export const SYSTEM: Surroundings = { now: () => Date.now(), randomBytes: (count) => randomBytes(count) }
