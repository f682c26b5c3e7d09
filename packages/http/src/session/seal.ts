/** Seals bytes by AES-256-GCM, so that others can neither read nor change them. */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export class Seal {
  readonly #key: Uint8Array
  readonly #newBytes: (bytes: number) => Uint8Array

  /** @param newBytes returns random bytes */
  constructor(secret: Uint8Array, newBytes: (bytes: number) => Uint8Array) {
    this.#key = derived(secret, 'millrace session: key', KEY_BYTES)
    this.#newBytes = newBytes
  }

  /** Returns the sealed text as base64url. */
  close(text: string): string {
    const nonce = this.#newBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
    const sealed = [cipher.update(text, 'utf8'), cipher.final()]
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** Returns the text; undefined if it was not sealed with this key, or changed since. */
  open(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    // Other spellings of the same bytes are refused, so that nothing of a sealed text can be changed.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return undefined
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
      return Buffer.concat([text, decipher.final()]).toString()
    } catch {
      return undefined
    }
  }
}

/** Returns bytes that the secret determines, and that say nothing about it or about what else is derived from it. */
export function derived(secret: Uint8Array, purpose: string, bytes: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, bytes))
}
