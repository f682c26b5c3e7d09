/**
 * Names deleted queues. The journal names lanes by their numbers, so the rows of a deleted queue and of its names stay. The queue
 * gets a name that no queue can have (`mail#3`). Readers of the file skip those rows, and the queue's events still say where they
 * happened. The numbers are never reused.
 */
const SEPARATOR = '#'

/** Returns an SQL condition: true if the name is that of a queue, and not what is left of a deleted one. */
export function isThere(column: string): string {
  return `${column} NOT LIKE '%${SEPARATOR}%'`
}

export function tombstoneOf(name: string, id: number): string {
  return `${name}${SEPARATOR}${id}`
}

/** Returns the name that the queue had. */
export function nameOnTombstone(name: string): string {
  const end = name.indexOf(SEPARATOR)
  return end < 0 ? name : name.slice(0, end)
}
