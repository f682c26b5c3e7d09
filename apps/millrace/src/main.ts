#!/usr/bin/env node
/** The entry point of the `millrace` program. */
import module from 'node:module'

// Each command is a new process, so cache compiled code. A Node that is too old lacks this function, and must still report that.
module.enableCompileCache?.()
const args = process.argv.slice(2)
const code = args.length === 1 && /^(?:-V|--version)$/.test(args[0] as string) ? await tellVersion() : await runCommand()
// Exits after earlier output is written, even if an interrupted command still waits for something.
process.stdout.write('', () => process.exit(code))

/**
 * The kernel drops signals of the first process of a container that nobody listens for. One that comes while the code is loaded is handed to
 * the command, which knows how it ends.
 */
async function runCommand(): Promise<number> {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  let early: (typeof signals)[number] | undefined
  const keep = (signal: NodeJS.Signals) => {
    early ??= signals.find((each) => each === signal)
  }
  for (const signal of signals) process.on(signal, keep)
  const { run } = await import('./cli/run.ts')
  const ended = run(args, process)
  for (const signal of signals) process.off(signal, keep)
  if (early !== undefined) process.emit(early, early)
  return ended
}

/** Prints the version and loads nothing else, because scripts ask for it often. */
async function tellVersion(): Promise<number> {
  const { version } = await import('./version.ts')
  const { promise, resolve } = Promise.withResolvers<number>()
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader of stdout may have closed it.
    if (code !== 'EPIPE') process.stderr.write(`millrace: cannot write the answer to stdout: ${message} (OUTPUT_FAILED)\n`)
    resolve(code === 'EPIPE' ? 0 : 1)
  })
  process.stdout.write(`${version()}\n`, (error) => error ?? resolve(0))
  return promise
}
