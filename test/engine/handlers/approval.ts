import type { HandlerFunction } from '@millrace/engine'

/** Waits for a message, and then for another one beside a step that ends with its signal alone. */
export const handler: HandlerFunction<string, unknown> = async ({ waitFor, step }) => {
  const decided = await waitFor('decided')
  const work = step('work', ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))))
  work.catch(() => {})
  return [decided, await Promise.race([work, waitFor('go')])]
}
