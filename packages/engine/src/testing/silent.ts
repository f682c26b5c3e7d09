/** In place of the readers' query: a thread that never answers. */
export function page(): Promise<never> {
  return new Promise(() => setInterval(() => {}, 1_000_000))
}
