import { afterEach } from 'vitest'

/** The step between places that are tried one after the other: each in `pnpm proof`, every fourth when a change is tested. */
export const STRIDE = process.env['PROOF'] === undefined ? 4 : 1

/** Returns how often a property or a world is tried: `count` times in `pnpm proof`, a quarter of that when a change is tested. */
export function runs(count: number): number {
  return Math.ceil(count / STRIDE)
}

/** The number that decides where samples begin. `SAMPLE=…` repeats the samples of a run that has failed. */
const SAMPLE = Number(process.env['SAMPLE'] ?? process.pid)
const { TEST_ALL, PROOF } = process.env

/** Returns every fourth of a list, or one in another number, from a place that differs from run to run. `pnpm test:all` takes the whole list. */
export function sampled<T>(list: readonly T[], oneIn = 4): T[] {
  if (TEST_ALL !== undefined || PROOF !== undefined) return [...list]
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(`${task.name}: sampled with SAMPLE=${SAMPLE}\n`)
  })
  return list.filter((_, place) => place % oneIn === SAMPLE % oneIn)
}
