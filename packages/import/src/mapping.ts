/** Translations that several sources share. */
import { createHash } from 'node:crypto'
import { checkJsonText, isErrorOf, LIMITS, RESERVED_KEYS } from '@millrace/core'
import { UnfitError } from './errors.ts'

/** Parses the data of a job. @throws UnfitError if it is not JSON, or if JavaScript would change one of its numbers */
export function dataOf(text: string): unknown {
  try {
    checkJsonText('data', text)
    return JSON.parse(text)
  } catch (cause) {
    throw new UnfitError(isErrorOf(cause, 'SyntaxError') ? `its data is not JSON: ${cause.message}` : (cause as Error).message, { cause })
  }
}

/** Returns the priority within the bounds, and whether it was beyond them. `higher` is the number of a queue in which higher ones start first. */
export function priorityOf(higher: number): { readonly priority: number; readonly beyond: boolean } {
  const priority = Math.max(-LIMITS.priority, Math.min(LIMITS.priority, higher))
  return { priority: priority === 0 ? 0 : priority, beyond: priority !== higher }
}

/** Returns the attempts that are left: at least 1, because a job that waits will run. */
export function attemptsLeft(total: number, used: number): number {
  return Math.max(1, Math.min(LIMITS.maxAttempts, total - used))
}

/** Returns a duration in ms within what the engine accepts. */
export function capped(ms: number): number {
  return Math.min(LIMITS.durationMs, Math.round(ms))
}

const STRANGE = /[^A-Za-z0-9_.:/-]/g
const HASH_LENGTH = 12

/** Returns an id for a schedule. If some of its characters are not allowed, or it is too long, a hash tells it apart. */
export function scheduleId(...parts: readonly string[]): string {
  const id = parts.filter((part) => part !== '').join(':')
  const allowed = id.replace(STRANGE, '-')
  if (allowed === id && id.length <= LIMITS.nameLength) return id
  return `${allowed.slice(0, LIMITS.nameLength - HASH_LENGTH - 1)}-${hashOf(id).slice(0, HASH_LENGTH)}`
}

/** Returns the idempotency key of an entry, which no producer can take first: a hash if its id is longer than a key. */
export function keyOf(source: string, id: string): string {
  const begin = `${RESERVED_KEYS}import:${source}:`
  const key = `${begin}${id}`
  return key.length <= LIMITS.keyLength && key.isWellFormed() ? key : `${begin}sha256:${hashOf(id)}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Returns the address of a URL without its user, password and options. */
export function addressOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
  } catch {
    // A URL of several hosts, as MongoDB has them.
    return url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*/, '')
  }
}
