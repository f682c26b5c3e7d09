// A slice of what `pnpm sim` runs, the seeds that have found something, and whether a seed tells all.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../packages/testkit/src/testing/runs.ts'
import { planOf } from './plan.ts'
import regressions from './regressions.json' with { type: 'json' }
import { shrink } from './shrink.ts'
import { runWorld } from './world.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
const CHILD_MS = 60_000
const WORLDS = runs(150)
/** A bound for worlds that hang, on a busy machine. */
const WORLD_MS = 5_000
// A canary is planted in the sources.
const env = { ...process.env, NODE_OPTIONS: undefined }
const sim = (...args: string[]) => promisify(execFile)(process.execPath, [MAIN, ...args], { env, timeout: CHILD_MS, killSignal: 'SIGKILL' })

describe('seeds that have found a bug', () => {
  test.each(regressions)('$seed: $why', async ({ seed, without = [] }) => {
    expect((await runWorld(planOf(seed, new Set(without)))).violations).toEqual([])
  })
})

test(`nothing is violated in ${WORLDS} worlds`, { timeout: WORLDS * WORLD_MS }, async () => {
  for (let seed = 1; seed <= WORLDS; seed++) expect([seed, ...(await runWorld(planOf(seed))).violations]).toEqual([seed])
})

test('the same seed makes the same history, byte for byte, in another process too', async () => {
  for (const seed of [1, 2, 3, 5, 13, 62]) {
    const { hash, history } = await runWorld(planOf(seed), true)
    expect(history.length).toBeGreaterThan(10)
    expect((await runWorld(planOf(seed))).hash).toBe(hash)
    expect((await sim('--seed', `${seed}`, '--hash')).stdout.trim()).toBe(hash)
  }
})

test('one seed is one world: no option that is for many goes with it', async () => {
  for (const option of ['--seeds', '--from', '--minutes'])
    await expect(sim('--seed', '5', option, '9')).rejects.toMatchObject({ stderr: expect.stringContaining('--seed 5 runs one seed') })
})

test('a seed that finds nothing has nothing to leave out', async () => {
  expect(await shrink(1)).toEqual([])
})

test.each(['counters-drift', 'lost-wake-up-after-enqueue', 'no-fence'])('the planted bug %s is found', async (canary) => {
  await expect(sim('--canary', canary, '--from', '1', '--seeds', '200')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/seed \d+: invariant/),
  })
})
