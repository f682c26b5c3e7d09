/** Timers of the daemon. They keep the process alive, because it serves until it is stopped. */

/** Calls `work` repeatedly, each time `ms` milliseconds after the last call has settled. Returns a function that stops it. */
export function every(ms: number, work: () => void | Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined
  let over = false
  const next = () => {
    if (!over) timer = setTimeout(() => void Promise.resolve(work()).finally(next), ms)
  }
  next()
  return () => {
    over = true
    clearTimeout(timer)
  }
}

/** Calls `work` after everything that is due by now has had the thread. */
export function soon(work: () => void): void {
  setImmediate(work)
}

/** Calls `work` once after `ms` milliseconds, unless the returned function is called first. */
export function after(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/** Returns a function for the milliseconds since this call. */
export function elapsed(): () => number {
  const begun = performance.now()
  return () => Math.round(performance.now() - begun)
}

/** Returns a function for the milliseconds left of a time that several waits share. Its first call starts the time; 0 once it is over. */
export function shared(ms: number, now: () => number = () => performance.now()): () => number {
  let untilMono: number | undefined
  return () => {
    untilMono ??= now() + ms
    return Math.max(0, Math.ceil(untilMono - now()))
  }
}
