/** What clients of some worlds put around data: the engine has nothing of it in plain. */
import type { Codec } from '@millrace/core'

const MASK = 0x5a

const masked = (bytes: Uint8Array) => bytes.map((byte) => byte ^ MASK)

export const CODEC: Codec = { encode: masked, decode: masked }

/** JSON as its caller gave it. */
export function opened(data: string | Uint8Array): string {
  // The first byte says which kind of data it is.
  return typeof data === 'string' ? data : new TextDecoder().decode(masked(data).subarray(1))
}
