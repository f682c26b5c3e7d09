/** The command line: a folder, perhaps a queue file, with or without the dashboard, or a request for help. */
import { parseArgs } from 'node:util'
import { CommandError } from './commandError.ts'

export interface Options {
  /** Undefined: the workspace's own node_modules. */
  readonly folder: string | undefined
  /** Undefined: a stable place under the current folder. */
  readonly file: string | undefined
  /** True unless the flag turns it off. */
  readonly dashboard: boolean
  readonly help: boolean
}

export const HELP = `Usage: demo [folder] [--file <queue file>] [--no-dashboard]

Finds duplicate files under a folder (default: this workspace's node_modules) with a durable job queue:
a scan job per folder enqueues a hash job per file, hashing runs on a pool of threads, and a report follows.

Stop it at any moment, by Ctrl-C or kill -9, and run the same command again: it continues where it stopped.
With the report the run is complete and its queue file is removed, so that the next run starts from scratch.

While it runs, the dashboard shows its jobs in your browser, at the address that it prints. There is no log-in:
only this machine can reach it.

Symbolic links are counted and not followed (where pnpm links packages, the files themselves are found in
node_modules/.pnpm); sockets, pipes, devices and the pseudo files of /proc and /sys are counted and skipped.

  --file <file>    the queue file (default: .millrace/demo-<hash of the folder>.db in the current folder)
  --no-dashboard   do not serve the dashboard
  --help           this text`

export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args)
  if (positionals.length > 1) throw new CommandError(`one folder at a time, not ${positionals.length}; see --help`)
  if (values.file === '') throw new CommandError('--file needs the name of a file; see --help')
  return { folder: positionals[0], file: values.file, dashboard: values['no-dashboard'] !== true, help: values.help }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      // pnpm hands the `--` of `pnpm run demo -- folder` on.
      args: args[0] === '--' ? args.slice(1) : [...args],
      options: { file: { type: 'string' }, 'no-dashboard': { type: 'boolean' }, help: { type: 'boolean', short: 'h', default: false } },
      allowPositionals: true,
    })
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('. ')
    throw new CommandError(`${reason.charAt(0).toLowerCase()}${reason.slice(1)}; see --help`, { cause: error })
  }
}
