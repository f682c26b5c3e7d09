/**
 * The slice of the proofs that every change must pass: 5,000 simulated worlds, and a minute of power cuts beside them; then the tests that
 * take long (the project `proof` of vitest.config.ts). `proof.ts [SEED]`: without a seed, on those that nobody has tried; CI gives the
 * commit's, so that a run can be repeated.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const [seed] = process.argv.slice(2)
const from = seed === undefined ? [] : [seed]

async function passes(program: URL, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], { stdio: 'inherit' })
  const [status] = await once(child, 'close')
  return status === 0
}

const here = (path: string) => new URL(path, import.meta.url)
const results = await Promise.all([
  passes(here('./simulation/main.ts'), '--seeds', '5000', '--processes', '2', ...from.flatMap((value) => ['--from', value])),
  passes(here('./powerloss/main.ts'), '--minutes', '1', '--cuts', ...from.flatMap((value) => ['--seed', value])),
])
results.push(await passes(new URL('./vitest.mjs', import.meta.resolve('vitest/package.json')), 'run', '--project', 'proof'))
process.exitCode = results.every(Boolean) ? 0 : 1
