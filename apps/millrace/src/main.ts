#!/usr/bin/env node
/** The entry point of the `millrace` program. */
import module from 'node:module'

// Each command is a new process, so cache compiled code. A Node that is too old lacks this function, and must still report that.
module.enableCompileCache?.()
const args = process.argv.slice(2)
const code =
  args.length === 1 && /^(?:-V|--version)$/.test(args[0] as string)
    ? await tellVersion()
    : await (await import('./cli/run.ts')).run(args, process)
// Exits after earlier output is written, even if an interrupted command still waits for something.
process.stdout.write('', () => process.exit(code))

/** Prints the version and loads nothing else, because scripts ask for it often. */
async function tellVersion(): Promise<number> {
  const { version } = await import('./version.ts')
  process.stdout.write(`${version()}\n`)
  return 0
}
