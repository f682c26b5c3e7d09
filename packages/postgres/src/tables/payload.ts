/** A payload is text or bytes, which are two columns here. */

/** Returns a payload if it is text, for the column of texts. */
export function textOf(payload: unknown): string | null {
  return typeof payload === 'string' ? payload : null
}

/** Returns a payload if it is bytes, for the column of bytes. */
export function bytesOf(payload: unknown): Uint8Array | null {
  return payload instanceof Uint8Array ? payload : null
}
