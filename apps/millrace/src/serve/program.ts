/** `millrace serve` as a program of its own: `program.ts --file jobs.db --http-port 0`. */
import { ConfigError } from '../config/errors.ts'
import { flagsOf, type ReadFlags } from '../config/flags.ts'
import { EXIT } from '../exit.ts'
import { onSignal } from '../host.ts'
import { explain, runDaemon } from './run.ts'

async function main(argv: readonly string[]): Promise<number> {
  let read: ReadFlags
  try {
    read = flagsOf(argv)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${explain(error)}\n`)
    return EXIT.usage
  }
  return runDaemon({ ...read, cwd: process.cwd() }, process, (listener) => onSignal(process, listener))
}

// A handler that ignores its abort must not keep the process alive.
process.exit(await main(process.argv.slice(2)))
