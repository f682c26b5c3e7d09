/** The tables contradict themselves: a count is below zero, or something is given back that nobody had taken. */
export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

/**
 * Fails the turn, because its tables contradict themselves. Nothing of the turn is written. The actor loads the tables again
 * from the store, and decides each command of the turn alone.
 */
export function broken(what: string): never {
  throw new BrokenInvariant(`broken invariant: ${what}`)
}
