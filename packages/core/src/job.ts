/** The parts of a job that everybody knows. */

/** JSON text, bytes as they are, or null for `undefined`. The engine never looks inside. */
export type Data = string | Uint8Array | null

/** The cause that ends the current run, whatever its handler says. It is set once, on timeout, cancel, stop or a lost lease. */
export type AbortCause = 'timeout' | 'cancel' | 'stop'

/** The reason of a cancel, and the name of who asked for it. */
export interface Cancellation {
  /** 1 to 1,000 characters. */
  readonly reason?: string
  /** 1 to 128 characters: the name of a token, of a worker, or what the caller says. */
  readonly by?: string
}

/** Bytes that the payload takes in memory, roughly. */
export function dataBytes(data: Data | undefined): number {
  return data === null || data === undefined ? 0 : data.length
}
