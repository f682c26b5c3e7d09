/** Errors for people: one line for what they can put right, a stack only for what is our fault. */
import { MillraceError } from '@millrace/engine'
import { CommandError } from './commandError.ts'
import { INTERRUPTED, Interruption } from './interrupt.ts'

/** Answers the exit code. */
export function explain(error: unknown): number {
  const expected = error instanceof CommandError || error instanceof MillraceError || error instanceof Interruption
  console.error(expected ? `demo: ${error.message}` : error)
  return error instanceof Interruption ? INTERRUPTED : 1
}
