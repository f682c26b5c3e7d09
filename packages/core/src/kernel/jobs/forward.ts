/** Creates the jobs of a producer's journal: each entry once, however often it is sent. */
import type { CheckedForward } from '../../commands.ts'
import { type Decision, Refused } from '../../decision.ts'
import { PLACE_LIMIT, sourcedNode } from '../../id.ts'
import type { Forwarded } from '../../replies.ts'
import { makeRoom } from '../queues/drop.ts'
import { findOversizedJob } from '../size.ts'
import type { TurnContext } from '../turn.ts'
import { createOne, findRefusal } from './enqueue.ts'

export function forward(turn: TurnContext, { source, number, first, entries, unfit }: CheckedForward): Decision<'forward'> {
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
    // There will be room later; until then the journal keeps the entry.
    if (refusal?.code === 'QUEUE_FULL' || refusal?.code === 'QUEUE_DRAINING') {
      if (offset === known) return new Refused(refusal)
      break
    }
    if (refusal !== undefined) {
      refused = { place, refusal }
      break
    }
    const row = turn.tables.nextSeq
    for (const [index, wanted] of jobs.entries()) {
      const { seq, node, enqueuedAt, created } = createOne(turn, wanted, { node: sourcedNode(place + index, number), enqueuedAt: at })
      if (!created) merged.push({ place: place + index, job: { seq, node, enqueuedAt } })
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

const TOO_MANY = { code: 'TOO_LARGE', message: `a journal has places below ${PLACE_LIMIT}: begin another one` } as const
