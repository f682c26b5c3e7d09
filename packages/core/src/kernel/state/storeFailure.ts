/**
 * A write that did not succeed. `before`: nothing of it happened. `commit`: it may have, and the connection is not to be used
 * any more. `broken`: one command's fault. Its values are `unfit` for the store or too `large`, or the `statement` itself or a
 * constraint is wrong, which is a bug or a broken store.
 */
export class StoreFailure extends Error {
  /** The file that is no longer where it was; undefined if the reason is another one. */
  readonly path: string | undefined
  readonly phase: 'before' | 'commit' | 'broken'
  readonly reason: 'full' | 'busy' | 'io' | 'owner' | 'statement' | 'unfit' | 'large'
  constructor(
    phase: StoreFailure['phase'],
    reason: StoreFailure['reason'],
    message: string,
    options?: ErrorOptions & { readonly path?: string },
  ) {
    super(message, options)
    this.name = 'StoreFailure'
    this.phase = phase
    this.reason = reason
    this.path = options?.path
  }
}
