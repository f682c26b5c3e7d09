/** What a stream has at hand, together: whoever reads it does not wait in order to have more. */

/** @param max of one batch */
export async function* batchesOf<Item>(stream: AsyncIterator<Item, unknown>, max: number): AsyncGenerator<Item[], void> {
  let next = ahead(stream)
  for (;;) {
    const first = await next
    if (first.done === true) return
    const batch = [first.value]
    next = ahead(stream)
    while (batch.length < max) {
      const following = await Promise.race([next.catch(() => undefined), soon()])
      // A failure is thrown when it is asked for again, behind this batch.
      if (following === undefined || following.done === true) break
      batch.push(following.value)
      next = ahead(stream)
    }
    yield batch
  }
}

/** Asked for before it is wanted: what fails meanwhile is heard of later. */
function ahead<Item>(stream: AsyncIterator<Item, unknown>): Promise<IteratorResult<Item, unknown>> {
  const next = stream.next()
  next.catch(() => {})
  return next
}

/** What is in memory already comes before. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => void setImmediate(() => resolve(undefined)))
}
