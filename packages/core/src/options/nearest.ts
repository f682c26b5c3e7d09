/** The known name that a mistyped one most likely means. */

/** A longer name means none that is known. The comparison costs the product of both lengths, and names come from whoever calls. */
export const COMPARED_LENGTH = 64

/** The closest of `known` by edits, or undefined where none is close. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > COMPARED_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(name.length / 2)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue
    const distance = edits(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions and replacements that turn one into the other. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, replaced))
    }
    row = next
  }
  return row[to.length] as number
}
