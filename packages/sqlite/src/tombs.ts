/**
 * Deleted queues. The journal names lanes by their numbers, so the rows of a deleted queue and of its names stay, under a name that no
 * queue can have (`mail#3`): whoever opens the file passes over them, and its events still say where they happened. Their numbers are
 * never given to others.
 */
const MARK = '#'

/** SQL: whether a queue of that name is one, and not what is left of it. */
export function isThere(column: string): string {
  return `instr(${column}, '${MARK}') = 0`
}

export function tombOf(name: string, id: number): string {
  return `${name}${MARK}${id}`
}

/** The name that the queue had. */
export function nameOnTomb(name: string): string {
  const end = name.indexOf(MARK)
  return end < 0 ? name : name.slice(0, end)
}
