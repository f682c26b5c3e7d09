/** Asks before an action that cannot be undone. */
import { createInterface } from 'node:readline/promises'
import { visible } from '../visible.ts'
import type { Context } from './context.ts'
import { InterruptedError, UsageError } from './errors.ts'

/** Resolves if the action is confirmed: by --yes, or by the user at the terminal. Rejects otherwise. */
export async function confirm({ out, stdin, signal }: Context, question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true) return
  if (!stdin.isTTY || !out.stderr.isTTY || out.json) throw new UsageError(`${question} Confirm with --yes`)
  const lines = createInterface({ input: stdin, output: out.stderr })
  // Ctrl-C and Ctrl-D are read here as keys, and end the lines. They cause no signal.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([lines.question(`${visible(question)} [y/N] `, { signal }), ended]).catch(() => '')
    if (!/^y(es)?$/i.test(answer.trim())) throw new InterruptedError()
  } finally {
    lines.close()
  }
}
