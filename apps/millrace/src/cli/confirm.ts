/** Asks before what cannot be taken back. */
import { createInterface } from 'node:readline/promises'
import { visible } from '../visible.ts'
import type { Context } from './context.ts'
import { InterruptedError, UsageError } from './errors.ts'

/** Returns where it was said that it is meant: by --yes, or by whoever sits at the terminal. */
export async function confirm({ out, stdin, signal }: Context, question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true) return
  if (!stdin.isTTY || !out.stderr.isTTY || out.json) throw new UsageError(`${question} Confirm with --yes`)
  const lines = createInterface({ input: stdin, output: out.stderr })
  // Ctrl-C and Ctrl-D are read here as keys, and end the lines: no signal comes of them.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([lines.question(`${visible(question)} [y/N] `, { signal }), ended]).catch(() => '')
    if (!/^y(es)?$/i.test(answer.trim())) throw new InterruptedError()
  } finally {
    lines.close()
  }
}
