/**
 * Prints what the tests cost: `pnpm test:cost`, with vitest's arguments to run a part of them. A run of vitest prints a row for each folder and the
 * dearest files. Then come the seconds of processor time of every process that the run has started, by what it is.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setInterval } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Account } from './account.ts'

/** A process that lives for less time may be counted in the whole alone. */
const LOOK_MS = 100

const vitest = fileURLToPath(new URL('./vitest.mjs', import.meta.resolve('vitest/package.json')))
const args = process.argv.slice(2)
const account = Account.open()
const startedMs = performance.now()
const child = spawn(
  process.execPath,
  [vitest, 'run', ...(args.some((arg) => arg.startsWith('--project')) ? [] : ['--project', '!proof*']), ...args],
  {
    stdio: 'inherit',
    env: { ...process.env, TEST_COST: '1' },
  },
)
account.add(child.pid as number)
const ended = once(child, 'close')
const over = new AbortController()
void ended.then(() => over.abort())
try {
  for await (const _ of setInterval(LOOK_MS, undefined, { signal: over.signal })) account.look()
} catch (error) {
  if (!over.signal.aborted) throw error
}
const [status] = await ended
for (const line of account.close()) process.stdout.write(`${line}\n`)
process.stdout.write(`clock ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`)
process.exitCode = status as number
