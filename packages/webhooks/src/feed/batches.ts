/** Groups the items that a stream has ready. A reader never waits just to get more of them. */

/** @param max items in one batch */
export async function* batchesOf<Item>(stream: AsyncIterator<Item, unknown>, max: number): AsyncGenerator<Item[], void> {
  let next = ahead(stream)
  for (;;) {
    const first = await next
    if (first.done === true) return
    const batch = [first.value]
    next = ahead(stream)
    while (batch.length < max) {
      const following = await Promise.race([next.catch(() => undefined), soon()])
      // A failure is thrown by the next read, after this batch.
      if (following === undefined || following.done === true) break
      batch.push(following.value)
      next = ahead(stream)
    }
    yield batch
  }
}

/** Reads an item before it is needed. If that fails meanwhile, the error appears when the item is awaited. */
function ahead<Item>(stream: AsyncIterator<Item, unknown>): Promise<IteratorResult<Item, unknown>> {
  const next = stream.next()
  next.catch(() => {})
  return next
}

/** Resolves after items that are already in memory. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => void setImmediate(() => resolve(undefined)))
}
