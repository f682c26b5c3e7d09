/** Makes a failing seed smaller: without one fault after the other, then with fewer clients, then shorter. */
import { planOf, reductionsOf } from './plan.ts'
import { runWorld } from './world.ts'

/** What can be left out while the same invariant is found to be violated. */
export async function shrink(seed: number): Promise<string[]> {
  const [first] = (await runWorld(planOf(seed))).violations
  if (first === undefined) return []
  const invariant = first.slice(0, first.indexOf(':') + 1)
  const without: string[] = []
  for (const reduction of reductionsOf(planOf(seed))) {
    const { violations } = await runWorld(planOf(seed, new Set([...without, reduction])))
    if (violations[0]?.startsWith(invariant) === true) without.push(reduction)
  }
  return without
}
