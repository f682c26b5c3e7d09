/**
 * Which failures are of a kind: the same class of error, and the same message but for what differs from job to job (numbers, ids, what
 * stands in quotes). Only a hash of it is kept, and no text.
 */
import type { RunError } from './runError.ts'

/** The length of the message that counts: the rest mostly differs from job to job. */
const LOOKED_AT = 1_024
const QUOTED = /"[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g
const WORD = /[\w-]+/g

/** 53 bits. */
export function fingerprintOf({ name, message }: Pick<RunError, 'name' | 'message'>): number {
  return hash(`${name}: ${normalized(message)}`)
}

/** The fingerprint as callers see it. */
export function formatFingerprint(fingerprint: number): string {
  return fingerprint.toString(16).padStart(14, '0')
}

/** Returns undefined if no fingerprint is written like this. */
export function parseFingerprint(text: string): number | undefined {
  const fingerprint = /^[0-9a-f]{14}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN
  return Number.isSafeInteger(fingerprint) ? fingerprint : undefined
}

export function normalized(message: string): string {
  return message
    .slice(0, LOOKED_AT)
    .replace(QUOTED, '#')
    .replace(WORD, (word) => (/\d/.test(word) ? '#' : word))
}

/** cyrb53, by its author in the public domain: two rounds of 32 bits that are mixed in the end. */
function hash(text: string): number {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    a = Math.imul(a ^ unit, 2654435761)
    b = Math.imul(b ^ unit, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return 2 ** 32 * (b & 0x1fffff) + (a >>> 0)
}
