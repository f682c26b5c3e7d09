#!/usr/bin/env node
/** The entry point of the `millrace` program. */
import module from 'node:module'

// Each command is a new process, so cache compiled code. A Node that is too old lacks this function, and must still report that.
module.enableCompileCache?.()
const args = process.argv.slice(2)
const code = args.length === 1 && /^(?:-V|--version)$/.test(args[0] as string) ? await tellVersion() : await runCommand()
// Exits after earlier output is written, even if an interrupted command still waits for something.
process.stdout.write('', () => process.exit(code))

/** The kernel drops signals of the first process of a container that nobody listens for: one may come while the code is loaded. */
async function runCommand(): Promise<number> {
  const leave = (_signal: NodeJS.Signals, number: number) => process.exit(128 + number)
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, leave)
  const { run } = await import('./cli/run.ts')
  const ended = run(args, process)
  for (const signal of signals) process.off(signal, leave)
  return ended
}

/** Prints the version and loads nothing else, because scripts ask for it often. */
async function tellVersion(): Promise<number> {
  const { version } = await import('./version.ts')
  process.stdout.write(`${version()}\n`)
  return 0
}
