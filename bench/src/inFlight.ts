/** Keeps so many calls under way, each awaited before its place is given to the next, until all have been answered. */
export async function keepInFlight(places: number, calls: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const place = async () => {
    while (next < calls) await call(next++)
  }
  await Promise.all(Array.from({ length: Math.min(places, calls) }, place))
}
