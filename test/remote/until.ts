/** Bytes between sockets take their own time: waits, round by round of the event loop, until something is so. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve))
}
