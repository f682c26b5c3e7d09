/** Blocks of a page, run in one bash as a reader would paste them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'apps/millrace/dist/main.js')
/** The condition of test/built.ts, and none of the options that vitest has for its own processes. */
const BUILT = '--conditions=millrace-dist'
const MARK = '=== the next block ==='

/** What each block printed; a block that fails ends the run. */
export interface Ran {
  readonly code: number
  readonly errors: string
  readonly printed: readonly string[]
  readonly tookMs: number
}

/** This process's environment without any setting of Millrace or of the terminal, and with the given ones. Programs load what is built. */
export function environmentOf(folder: string, more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(
    ([name]) => !/^(?:MILLRACE_|NODE_OPTIONS$|NODE_ENV$|PORT$|NO_COLOR$|FORCE_COLOR$)/.test(name),
  )
  return { ...Object.fromEntries(clean), NODE_OPTIONS: BUILT, TMPDIR: folder, MILLRACE_STATE_DIR: join(folder, 'state'), ...more }
}

/** @param limitMs when the run fails for lack of time */
export async function runBlocks(
  blocks: readonly string[],
  { folder, env, cwd, limitMs }: { folder: string; env: NodeJS.ProcessEnv; cwd: string; limitMs: number },
): Promise<Ran> {
  const files = blocks.map((script, index) => {
    const file = join(folder, `${index}.sh`)
    writeFileSync(file, script)
    return file
  })
  const all = files.map((file) => `. '${file}'\necho '${MARK}'\n`).join('')
  // A process group of its own: whatever it leaves behind when it fails ends with it, and detached workers by their records.
  const bash = spawn('bash', ['-e', '-c', all], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(bash, 'close')
  const endGroup = () => {
    try {
      process.kill(-(bash.pid as number), 'SIGKILL')
    } catch {
      // As it is to be: nothing is left.
    }
  }
  onTestFinished(async () => {
    const stop = spawn(process.execPath, [MAIN, 'worker', 'stop', '--all', '--timeout', '1ms'], { env, stdio: 'ignore' })
    await once(stop, 'close')
    endGroup()
  })
  const began = performance.now()
  let printed = ''
  let errors = ''
  bash.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  bash.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = await once(bash, 'exit', { signal: AbortSignal.timeout(limitMs) })
  const tookMs = performance.now() - began
  // Where it has failed, what it has started still holds its output.
  endGroup()
  await closed
  return { code, errors, printed: printed.split(`${MARK}\n`), tookMs }
}
