/** A handler module that returns the number of its process. */
export function handler(): number {
  return process.pid
}
