/** Ctrl-C: the first one asks for a graceful stop, a second one ends the process at once. */

export const INTERRUPTED = 130

/** The reason of the signal. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
}

/** One Ctrl-C may arrive more than once: from the terminal, and again from the npm or pnpm that started this process. */
const SAME_PRESS_MS = 500
const NAMES = ['SIGINT', 'SIGTERM'] as const

export interface Signals {
  on(signal: NodeJS.Signals, heard: () => void): unknown
  off(signal: NodeJS.Signals, heard: () => void): unknown
  /** Ends the process at once. */
  exit(code: number): never
}

/** Hears the signals until it is disposed of. */
export function interruptOf(host: Signals, message: string): { readonly signal: AbortSignal } & Disposable {
  const controller = new AbortController()
  let firstMono = 0
  const interrupt = () => {
    if (!controller.signal.aborted) {
      firstMono = performance.now()
      controller.abort(new Interruption(message))
    } else if (performance.now() - firstMono > SAME_PRESS_MS) host.exit(INTERRUPTED)
  }
  for (const name of NAMES) host.on(name, interrupt)
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of NAMES) host.off(name, interrupt)
    },
  }
}
