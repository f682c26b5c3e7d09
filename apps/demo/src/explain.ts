/** Errors for people: one line for what they can put right, a stack only for what is our fault. */
import { inspect } from 'node:util'
import { MillraceError } from '@millrace/engine'
import { CommandError } from './commandError.ts'
import { INTERRUPTED, Interruption } from './interrupt.ts'

/** Prints the error, and returns the exit code. */
export function explain(error: unknown, stderr: NodeJS.WriteStream): number {
  const expected = error instanceof CommandError || error instanceof MillraceError || error instanceof Interruption
  stderr.write(`${expected ? `demo: ${error.message}` : inspect(error)}\n`)
  return error instanceof Interruption ? INTERRUPTED : 1
}
