/** Repeatable random numbers: the same seed and the same words give the same numbers, on every machine. */

/** Returns a source of numbers in [0, 1) for a seed and the thing that they decide about. */
export function randomOf(seed: number, ...about: readonly (string | number)[]): () => number {
  let state = seed >>> 0
  for (const letter of about.join(' ')) state = mixed(state ^ (letter.codePointAt(0) as number))
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    return mixed(state) / 2 ** 32
  }
}

/** The finalizer of mulberry32, which is in the public domain. */
function mixed(state: number): number {
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return (t ^ (t >>> 14)) >>> 0
}

export function pick<Item>(random: () => number, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item
}

/** Returns a number between two, more often one near the smaller. */
export function between(random: () => number, [least, most]: readonly [number, number]): number {
  return least + (most - least) * random() ** 2
}
