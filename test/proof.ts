/**
 * The slice of the proofs that every change must pass: 5,000 simulated worlds, then a minute of power cuts. `proof.ts [SEED]`: without
 * a seed, on those that nobody has tried; CI gives the commit's, so that a run can be repeated.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [seed] = process.argv.slice(2)
const from = seed === undefined ? [] : [seed]

function run(program: string, ...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

run('./simulation/main.ts', '--seeds', '5000', '--processes', '2', ...from.flatMap((value) => ['--from', value]))
run('./powerloss/main.ts', '--minutes', '1', '--cuts', ...from.flatMap((value) => ['--seed', value]))
