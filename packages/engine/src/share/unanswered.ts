/** The error of a process that neither owns a store nor reaches its owner. */
import { AlreadyOpenError, isErrorOf, type Role } from '@millrace/core'
import type { Ownership } from './ownership.ts'

const NOTHING = { note: undefined, mayBeFree: false }

/** Returns why a store is neither owned nor attached to, with the note of its owner if that is the process that has the lock. */
export async function unanswered(ownership: Ownership, role: Role, owned: Error, refused: Error): Promise<Error> {
  if (!isErrorOf(owned, 'AlreadyOpenError')) return owned
  const { message, pid, host } = owned
  const { note, mayBeFree } = await ownership.look().catch(() => NOTHING)
  if (role === 'client' && (note === undefined || mayBeFree)) return refused
  const holder = await ownership.holder().catch(() => undefined)
  // The note may be of an owner that is dead, while something else keeps the store.
  const held = holder === undefined ? '' : `. Now ${holder}`
  if (note === undefined || (pid !== undefined && pid !== note.pid))
    return new AlreadyOpenError(`${message} (${ownership.silence})${held}`, { pid, host }, { cause: refused })
  const owner = `process ${note.pid} on ${note.host} (${note.library}, protocol ${note.protocol.join(' to ')}, schema ${note.schema}, epoch ${note.epoch})`
  const is = { pid: note.pid, host: note.host }
  if (role === 'owner')
    return new AlreadyOpenError(
      `${ownership.store} is owned by ${owner}: stop it first, or open with role 'any' to attach to it${held}`,
      is,
    )
  const what =
    codeOf(refused) === 'VERSION_MISMATCH'
      ? refused.message
      : `it does not answer: it may be stopped or busy. Try again (${refused.message})`
  return new AlreadyOpenError(`${ownership.store} is shared by ${owner}, and ${what}${held}`, is, { cause: refused })
}

export function codeOf(error: Error): string {
  return isErrorOf(error, 'MillraceError') ? error.code : ''
}
