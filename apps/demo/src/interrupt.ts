/** Ctrl-C: the first one asks for a graceful stop, a second one ends the process at once. */

export const INTERRUPTED = 130

/** The reason of the signal. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
}

/** One Ctrl-C may arrive more than once: from the terminal, and again from the npm or pnpm that started this process. */
const SAME_PRESS_MS = 500

export function interruptSignal(message: string): AbortSignal {
  const controller = new AbortController()
  let firstMono = 0
  const interrupt = () => {
    if (!controller.signal.aborted) {
      firstMono = performance.now()
      controller.abort(new Interruption(message))
    } else if (performance.now() - firstMono > SAME_PRESS_MS) process.exit(INTERRUPTED)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  return controller.signal
}
