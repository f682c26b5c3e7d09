/** Certificates and keys as options: their content, never a path. No message shows them. */
import { describe, OptionTypeError } from '@millrace/core'

export function pemOption(option: string, value: unknown): string | Uint8Array {
  const text = value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1') : value
  if (typeof text !== 'string' || !text.includes('-----BEGIN ')) {
    // The message never shows the value: it may be a key.
    const what = typeof text === 'string' ? 'a text without one' : describe(value)
    throw new OptionTypeError(
      option,
      `${option} must be PEM as a string or bytes ('-----BEGIN ...'), got ${what}: read the file and give its content`,
    )
  }
  return value as string | Uint8Array
}
