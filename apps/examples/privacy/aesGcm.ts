/**
 * A codec that encrypts with AES-256-GCM. What it makes begins with the id of its key, so that keys can be changed: new data is
 * encrypted with `current`, old data is read with the key that it names. A key goes when no kept job needs it any more.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Codec } from '@millrace/engine'

const IV_BYTES = 12
const TAG_BYTES = 16

export interface KeyRing {
  /** The id of the key that encrypts: 1 to 255 bytes. */
  readonly current: string
  /** 32 bytes each, by id. */
  readonly keys: Readonly<Record<string, Uint8Array>>
}

export function aesGcm({ current, keys }: KeyRing): Codec {
  const keyOf = (id: string): Uint8Array => {
    const key = keys[id]
    if (key === undefined) throw new Error(`there is no key '${id}'`)
    return key
  }
  const id = Buffer.from(current)
  if (id.length === 0 || id.length > 255) throw new RangeError('the id of a key has 1 to 255 bytes')
  const header = Buffer.from([id.length, ...id])
  const key = keyOf(current)
  return {
    // [length of the id, id, iv, tag, encrypted]: the header is authenticated with the rest.
    encode(plain) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(header)
      const encrypted = [cipher.update(plain), cipher.final()]
      return Buffer.concat([header, iv, cipher.getAuthTag(), ...encrypted])
    },
    decode(encoded) {
      const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
      const ivAt = 1 + (bytes[0] ?? 0)
      const tagAt = ivAt + IV_BYTES
      if (bytes.length < tagAt + TAG_BYTES) throw new Error('this was not encrypted here')
      const decipher = createDecipheriv('aes-256-gcm', keyOf(bytes.toString('utf8', 1, ivAt)), bytes.subarray(ivAt, tagAt))
      decipher.setAAD(bytes.subarray(0, ivAt)).setAuthTag(bytes.subarray(tagAt, tagAt + TAG_BYTES))
      return Buffer.concat([decipher.update(bytes.subarray(tagAt + TAG_BYTES)), decipher.final()])
    },
  }
}
