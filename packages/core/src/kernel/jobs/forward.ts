/** Creates the jobs of a producer's journal, or of the store's inbox: each entry once, however often it is sent. */
import type { CheckedForward, InboxEntry, SourceEntry } from '../../commands.ts'
import { type Decision, Refused } from '../../decision.ts'
import { NODE_LIMIT, PLACE_LIMIT, sourcedNode } from '../../id.ts'
import type { Forwarded } from '../../replies.ts'
import { findOversizedJob } from '../state/size.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { makeRoom } from './drop.ts'
import { createOne, findRefusal, type Origin } from './enqueue.ts'

export function forward(turn: TurnContext, command: CheckedForward): Decision<'forward'> {
  return command.inbox === undefined ? forwardJournal(turn, command) : takeIn(turn, command, command.inbox)
}

function forwardJournal(turn: TurnContext, { source, number, first, entries, unfit }: CheckedForward): Decision<'forward'> {
  const { facts, effects } = turn
  const known = facts.offset(source)
  const merged: Forwarded['merged'][number][] = []
  let refused: Forwarded['refused']
  let offset = known
  let next = first
  for (const { at, jobs } of entries) {
    const place = next
    next += jobs.length
    if (place <= known) continue
    // The request is refused before the offset moves, so all of it comes again.
    if (turn.refusing !== undefined) return new Refused(turn.refusing)
    const refusal =
      next > PLACE_LIMIT ? TOO_MANY : (unfit?.get(place) ?? (findOversizedJob(turn.settings, jobs) ?? findRefusal(turn, jobs))?.refusal)
    // Until there is room, the journal keeps the entry.
    if (refusal !== undefined && LATER.has(refusal.code)) {
      if (offset === known) return new Refused(refusal)
      break
    }
    if (refusal !== undefined) {
      refused = { place, refusal }
      break
    }
    const row = turn.tables.nextSeq
    // A job that a journal has accepted is not refused for a clock: the engine's may be the wrong one.
    const isAhead = at > turn.now.wall + AHEAD_MS
    for (const [index, wanted] of jobs.entries()) {
      const origin = isAhead ? undefined : freeOrigin(turn, { node: sourcedNode(place + index, number), enqueuedAt: at })
      const { created, ...job } = createOne(turn, wanted, origin)
      if (!created || origin === undefined) merged.push({ place: place + index, job })
    }
    makeRoom(turn, row)
    offset = next - 1
  }
  if (offset > known) {
    facts.setOffset(source, offset)
    effects.sourceOffsets.push({ source, offset })
  }
  return { mark: offset, merged, ...(refused && { refused }) }
}

/** Takes entries out of the store's inbox, but for those that there is no room for: they stay there. */
function takeIn(turn: TurnContext, { entries }: CheckedForward, inbox: readonly InboxEntry[]): Decision<'forward'> {
  if (turn.refusing !== undefined) return new Refused(turn.refusing)
  const merged: Forwarded['merged'][number][] = []
  for (const [index, { id, node, unfit }] of inbox.entries()) {
    const { at, jobs } = entries[index] as SourceEntry
    const refusal = unfit ?? (findOversizedJob(turn.settings, jobs) ?? findRefusal(turn, jobs))?.refusal
    if (refusal !== undefined && LATER.has(refusal.code)) continue
    turn.effects.inbox.taken.push(id)
    if (refusal !== undefined) {
      turn.effects.inbox.refused.push({ id, code: refusal.code, message: refusal.message })
      continue
    }
    const row = turn.tables.nextSeq
    for (const wanted of jobs) {
      const origin = freeOrigin(turn, { node, enqueuedAt: at })
      const { created, ...job } = createOne(turn, wanted, origin)
      if (!created || origin === undefined) merged.push({ place: index + 1, job })
    }
    makeRoom(turn, row)
  }
  return { mark: inbox.length, merged }
}

/** Refusals of entries that are accepted once there is room. */
const LATER: ReadonlySet<string> = new Set(['QUEUE_FULL', 'QUEUE_DRAINING'])

const TOO_MANY = { code: 'TOO_LARGE', message: `a journal has places below ${PLACE_LIMIT}: begin another one` } as const

/** How far a producer's clock may be ahead of the engine's. Further ahead, its jobs get ids of the engine's: ids have the time. */
const AHEAD_MS = 86_400_000

/**
 * Returns what a producer has said of its job's id, or undefined if another job has that id. The producer chooses all parts of it, so it may
 * say those of a job that is not its own. The job then gets an id of the engine's, and the answer names it.
 */
function freeOrigin({ tables, facts }: TurnContext, origin: Origin): Origin | undefined {
  // Ids with the number of the file are those of its own rows, of which some are still to come.
  if (origin.node % NODE_LIMIT === tables.node || facts.isTaken(origin)) return undefined
  facts.take(origin)
  return origin
}
