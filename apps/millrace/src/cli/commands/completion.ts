/** `millrace completion`: prints a script that completes commands, flags and names in a shell. */
import { Argument, type Command } from 'commander'
import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import { namesFor } from '../completion/names.ts'
import { type Flag, type Node, nodesOf } from '../completion/tree.ts'
import { slotOf } from '../completion/words.ts'
import { zshScript } from '../completion/zsh.ts'
import type { Context } from '../context.ts'
import { targetOf } from '../target.ts'

const SCRIPTS: Readonly<Record<string, (nodes: readonly Node[]) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript }

export function addCompletion(program: Command, { env, out }: Context): void {
  program
    .command('completion')
    .description('Print a script that completes commands, flags, and names that the engine knows')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .action(async (shell: string) => {
      const script = SCRIPTS[shell]?.(nodesOf(program, await settingFlagsOf())) as string
      if (out.json) await out.answer({ shell, script }, () => [])
      else await out.raw(script)
    })
  program
    .command('__complete', { hidden: true })
    .description('Print the names that the last word may become, for the scripts')
    .argument('[words...]', 'the words behind millrace, after --')
    .action(async (words: readonly string[]) => {
      const slot = slotOf(nodesOf(program), words)
      // Whoever types gets no error in the middle of a line.
      const names = slot === undefined ? [] : await namesFor(slot, () => targetOf(slot.target, env), env).catch(() => [])
      await out.raw(names.map((name) => `${name}\n`).join(''))
    })
}

/** Returns the flags of the settings, which only the daemon loads otherwise. */
async function settingFlagsOf(): Promise<readonly Flag[]> {
  const { flagOf, KEYS, SETTABLE } = await import('../../config/keys.ts')
  const about = new Map(KEYS.map(({ key, text }) => [key, text]))
  const described = SETTABLE.map((key) => ({
    name: flagOf(key),
    description: about.get(key) ?? `All settings in the section ${key}, as JSON.`,
  }))
  return [{ name: '--config', description: 'The configuration file.' }, ...described].map(({ name, description }) => ({
    names: [name],
    description,
    takesValue: true,
    kind: undefined,
  }))
}
