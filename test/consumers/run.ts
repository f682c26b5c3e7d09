/** Runs a program to its end, as from a shell that knows nothing of this test run. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'

export interface Ended {
  /** null where it had to be killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** One that does not end by itself is killed: it hangs. */
const HANGS_MS = 50_000

export interface RunOptions {
  readonly hangsMs?: number
  /** Beside what every shell has. */
  readonly env?: Readonly<NodeJS.ProcessEnv>
}

export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  { hangsMs = HANGS_MS, env }: RunOptions = {},
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env: { ...ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: hangsMs,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

/** What vitest and pnpm tell their children is not for these. The first `node` on the path is the one that runs this test. */
export const ENV: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:vitest|pnpm_|npm_(?!config_)|init_cwd$|node_(?:env|options|path)$|(?:test|dev|prod|mode|force_color)$)/i.test(name),
    ),
  ),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
  NO_COLOR: '1',
}
