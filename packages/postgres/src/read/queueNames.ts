/** Names deleted queues as every store does: their rows stay, with a name that no queue can have. */

/** Returns an SQL condition: true if the name is that of a queue, and not what is left of a deleted one. */
export function isThere(column: string): string {
  return `strpos(${column}, '#') = 0`
}
