/** `millrace completion`: prints a script that completes commands and flags in a shell. */
import { Argument, type Command } from 'commander'
import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import { type Node, nodesOf } from '../completion/tree.ts'
import { zshScript } from '../completion/zsh.ts'
import type { Context } from '../context.ts'

const SCRIPTS: Readonly<Record<string, (nodes: readonly Node[]) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript }

export function addCompletion(program: Command, { out }: Context): void {
  program
    .command('completion')
    .description('Print a script that completes commands and flags')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .action(async (shell: string) => {
      const script = SCRIPTS[shell]?.(nodesOf(program)) as string
      if (out.json) await out.answer({ shell, script }, () => [])
      else await out.raw(script)
    })
}
