/** Certificates and keys as options: their content, never a path. No message shows them. */
import { checkKnown, describe, OptionRangeError, OptionTypeError } from '@millrace/core'

/** A key that both sides know, in place of certificates. A client that has it is trusted and needs no token. */
export interface SharedSecret {
  /** 32 random bytes. */
  readonly secret: Uint8Array
}

/** How TLS uses a secret: 1.3 with a fresh key for each connection, and the hash that the secret's size is meant for. */
export const SECRET_TLS = { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const
/** The name of the secret in a handshake. There is one for each server. */
export const SECRET_NAME = 'millrace'

const SECRET_BYTES = 32
const SECRET_KNOWN = new Set(['secret'])

/** Returns undefined for other options of TLS. */
export function secretOption(value: unknown): SharedSecret | undefined {
  if (typeof value !== 'object' || value === null || !('secret' in value)) return undefined
  checkKnown('tls', value, SECRET_KNOWN)
  const { secret } = value
  if (!(secret instanceof Uint8Array)) throw new OptionTypeError('tls.secret', `tls.secret must be bytes, got a ${typeof secret}`)
  if (secret.byteLength !== SECRET_BYTES)
    throw new OptionRangeError('tls.secret', SECRET_BYTES, `tls.secret must have ${SECRET_BYTES} bytes, got ${secret.byteLength}`)
  return { secret }
}

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
