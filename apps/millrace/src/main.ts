#!/usr/bin/env node
/** `millrace`: the queue as a program. */
import module from 'node:module'

// A command is a process of its own: what was compiled once is not compiled anew. A Node that is too old has no such thing, and is to say so.
module.enableCompileCache?.()
const args = process.argv.slice(2)
const code =
  args.length === 1 && /^(?:-V|--version)$/.test(args[0] as string)
    ? await tellVersion()
    : await (await import('./cli/run.ts')).run(args, process)
// What an interrupted command was waiting for keeps nothing alive; what was written before has left first.
process.stdout.write('', () => process.exit(code))

/** Asked by scripts, again and again: nothing else is loaded for it. */
async function tellVersion(): Promise<number> {
  const { version } = await import('./version.ts')
  process.stdout.write(`${version()}\n`)
  return 0
}
