/**
 * Runs the proofs, which take too long for `pnpm test`: 5,000 simulated worlds, and a minute of power cuts beside them; then the tests of the
 * projects `proof*` (vitest.config.ts).
 *
 *     main.ts [SEED] [--part 2/4]    without a seed, on those that nobody has tried; a part is its share of the worlds, cuts and files of tests
 *
 * CI gives the seed and the part of the commit, so that a run can be repeated.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const WORLDS = 5000
const CUTS_MINUTES = 1

const { values, positionals } = parseArgs({ allowPositionals: true, options: { part: { type: 'string', default: '1/1' } } })
const [seed] = positionals
const [, part = 0, parts = 0] = (/^([1-9]\d?)\/([1-9]\d?)$/.exec(values.part) ?? []).map(Number)
if (!(part >= 1 && part <= parts)) throw new RangeError(`--part must be a part such as 2/4, got ${values.part}`)
const from = (flag: string): readonly string[] => (seed === undefined ? [] : [flag, seed])

async function passes(program: URL, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], { stdio: 'inherit' })
  const [status] = await once(child, 'close')
  return status === 0
}

const here = (path: string) => new URL(path, import.meta.url)
const results = await Promise.all([
  passes(here('./simulation/main.ts'), '--seeds', String(Math.ceil(WORLDS / parts)), '--processes', '2', ...from('--from')),
  passes(here('./powerloss/main.ts'), '--minutes', String(CUTS_MINUTES / parts), '--cuts', ...from('--seed')),
])
const vitest = new URL('./vitest.mjs', import.meta.resolve('vitest/package.json'))
results.push(await passes(vitest, 'run', '--project', 'proof*', '--shard', values.part))
process.exitCode = results.every(Boolean) ? 0 : 1
