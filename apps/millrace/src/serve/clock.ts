/** Timers of the daemon. They keep the process alive: it serves until it is told to end. */

/** Calls `work` again and again, the next time only when the last one has settled. Answers what ends it. */
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

/** Calls `work` once, unless what it answers was called before. */
export function after(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/** What is left of a time that several waits share, in milliseconds: it begins with the first that asks, and is 0 once it is over. */
export function shared(ms: number, now: () => number = () => performance.now()): () => number {
  let untilMono: number | undefined
  return () => {
    untilMono ??= now() + ms
    return Math.max(0, Math.ceil(untilMono - now()))
  }
}
