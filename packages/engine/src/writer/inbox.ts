/**
 * Takes jobs that others have put into the store without the engine. They leave its inbox in the turn that creates them, so that each is
 * created once, whatever happens in between.
 */
import {
  type CheckedForward,
  type Clock,
  checkJsonText,
  endlessOf,
  ForbiddenError,
  type NewJob,
  nameOption,
  newJobFrom,
  type Refusal,
  type Request,
  reservedKey,
  type Unfit,
} from '@millrace/core'
import { type ConnectionId, type InboxRow, StoreFailure } from '@millrace/core/kernel'
import type { Deliver } from '../actor/connections.ts'

/** Returns entries that are not among these, oldest first; few enough for one turn. */
export type ReadInbox = (except: readonly number[], entriesMax?: number) => readonly InboxRow[]

export interface InboxOptions {
  /** Undefined if the store has no inbox. */
  readonly read: ReadInbox | undefined
  readonly actor: { connect(deliver: Deliver): ConnectionId; receive(connection: ConnectionId, requests: readonly Request[]): void }
  /** Lets the actor take its turns at once. */
  readonly wake: () => void
  readonly clock: Clock
}

/** The time to the next look: while entries come, and while none has come for `QUIET_AFTER_MS`. */
const BUSY_MS = 5
const EMPTY_MS = 25
const QUIET_MS = 100
const QUIET_AFTER_MS = 10_000
/** The time after which an entry is tried again that there was no room for, or that could not be written. */
const LATER_MS = 1_000
/** The most entries of a request. */
const ENTRIES_MAX = 1_000
/** The most entries that are tried again later: beyond it, no new ones are looked at. */
const LATER_MAX = 10_000

/** Codes of refusals for which an entry is at fault. */
const CONTENT: ReadonlySet<string> = new Set(['TOO_LARGE', 'VALIDATION', 'INTERNAL'])

/** Looks for entries until the returned function is called. */
export function watchInbox({ read, actor, wake, clock }: InboxOptions): () => void {
  if (read === undefined) return () => {}
  /** Entries that there was no room for, and when they are tried again. */
  const later = new Map<number, number>()
  /** The entries of the last request, once it is accepted: any that is still there has found no room. */
  let taken: ReadonlySet<number> = new Set()
  let sent: ReadonlySet<number> | undefined
  /** The most entries of a request: fewer after one that could not be decided, until the one at fault is alone. */
  let most = ENTRIES_MAX
  const unfit = new Map<number, Refusal>()
  /** Nothing is looked at before. */
  let restsUntilMono = Number.NEGATIVE_INFINITY
  let number = 0
  let lastMono = clock.read().mono
  const connection = actor.connect(({ replies }) => {
    const reply = replies.find(({ id }) => id === number)
    if (reply === undefined || sent === undefined) return
    if ('refusal' in reply) refused(sent, reply.refusal)
    else {
      taken = sent
      most = Math.min(ENTRIES_MAX, most * 2)
    }
    sent = undefined
  })

  /** A whole request was refused: nothing can be written now, or one of its entries is at fault. */
  const refused = (ids: ReadonlySet<number>, refusal: Refusal): void => {
    if (!CONTENT.has(refusal.code)) restsUntilMono = clock.read().mono + LATER_MS
    else if (ids.size > 1) most = Math.ceil(ids.size / 2)
    else
      for (const id of ids) {
        later.set(id, clock.read().mono + LATER_MS)
        if (refusal.code !== 'INTERNAL') unfit.set(id, refusal)
      }
  }

  /** Returns the time to the next look. */
  const look = (): number => {
    // One request at a time: a turn may be put off.
    if (sent !== undefined) return EMPTY_MS
    const { mono } = clock.read()
    if (mono < restsUntilMono) return restsUntilMono - mono
    for (const [id, at] of later) if (at <= mono) later.delete(id)
    if (later.size >= LATER_MAX) return LATER_MS
    const found = read([...later.keys()], most)
    for (const { id } of found) if (taken.has(id)) later.set(id, mono + LATER_MS)
    const rows = found.filter(({ id }) => !taken.has(id)).map((row) => withMark(row, unfit))
    taken = new Set()
    if (rows.length === 0) return mono - lastMono < QUIET_AFTER_MS ? EMPTY_MS : QUIET_MS
    lastMono = mono
    sent = new Set(rows.map(({ id }) => id))
    actor.receive(connection, [{ id: ++number, command: commandOf(rows) }])
    wake()
    return BUSY_MS
  }

  const lookLater = (ms: number): (() => void) =>
    clock.setTimer(ms, () => {
      let next = LATER_MS
      try {
        next = look()
      } catch (error) {
        // The next turn meets the same trouble.
        if (!(error instanceof StoreFailure)) throw error
      }
      cancel = lookLater(next)
    })
  let cancel = lookLater(0)
  return () => cancel()
}

/** Returns the entry with the reason to refuse it, if it is marked. If the turn that refuses it fails, it is marked again. */
function withMark(row: InboxRow, unfit: Map<number, Unfit>): InboxRow {
  const mark = unfit.get(row.id)
  unfit.delete(row.id)
  return mark === undefined ? row : { ...row, unfit: mark }
}

function commandOf(rows: readonly InboxRow[]): CheckedForward {
  const read = rows.map((row) => ({ row, ...jobOf(row) }))
  return {
    op: 'forward',
    source: 'inbox',
    number: 1,
    first: 1,
    entries: read.map(({ row, job }) => ({ at: row.at, jobs: job === undefined ? [] : [job] })),
    inbox: read.map(({ row: { id, node }, unfit }) => ({ id, node, unfit })),
  }
}

function jobOf({ at, name, data, options, unfit }: InboxRow): { readonly job?: NewJob; readonly unfit?: Unfit } {
  if (unfit !== undefined) return { unfit }
  try {
    if (data !== null) checkJsonText('data', data)
    checkJsonText('options', options)
    const { delay, ...job } = newJobFrom(nameOption('name', name), data, endlessOf(JSON.parse(options)), undefined)
    // A user of the database needs no right on the tables, so it is no owner.
    const reserved = reservedKey(job.idempotencyKey)
    if (reserved !== undefined) throw new ForbiddenError(reserved)
    // A delay counts from the call.
    return { job: delay === undefined ? job : { ...job, runAt: at + delay } }
  } catch (error) {
    const { code = 'INTERNAL', message } = error as Error & { readonly code?: string }
    return { unfit: { code, message } }
  }
}
