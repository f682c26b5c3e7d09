/** Chooses the few of many that weigh the most. */

/**
 * Returns at most `limit` items that weigh the most, the heaviest first, and of equal ones the earlier first. Items that weigh nothing
 * are left out. It sorts only what may be among them, because there may be 100,000 items.
 */
export function heaviest<T>(items: Iterable<T>, limit: number, weigh: (item: T) => number): T[] {
  let kept: (readonly [weight: number, item: T])[] = []
  let least = 0
  const cut = () => {
    kept = kept.sort(([a], [b]) => b - a).slice(0, limit)
  }
  for (const item of items) {
    const weight = weigh(item)
    if (weight <= least) continue
    kept.push([weight, item])
    if (kept.length < 2 * limit) continue
    cut()
    least = kept.at(-1)?.[0] ?? 0
  }
  cut()
  return kept.map(([, item]) => item)
}
