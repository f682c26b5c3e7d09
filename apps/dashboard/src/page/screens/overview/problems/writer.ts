/** Problems of the engine as a whole: it refuses work, is busy beyond its means, or is paused. */
import { bytes } from '../../../format/numbers.ts'
import { TEXT } from '../../../text.ts'
import type { Inputs, Problem } from './problem.ts'

const { problems } = TEXT
/** A mailbox that is emptied in time is never this full for this long. */
const CROWDED_MS = 10_000

export function writerProblems({ stats, crowdedSince, now }: Inputs): readonly Problem[] {
  const { writer, paused, states } = stats
  const found: Problem[] = []
  if (writer.draining)
    found.push({
      id: 'draining',
      severity: 'bad',
      icon: 'errors',
      title: problems.draining,
      text: problems.drainingMore(bytes(writer.walBytes)),
    })
  if (crowdedSince !== undefined && now - crowdedSince >= CROWDED_MS)
    found.push({ id: 'crowded', severity: 'warn', icon: 'events', title: problems.full, text: problems.fullMore(writer.mailboxDepth) })
  if (paused)
    found.push({
      id: 'paused',
      severity: 'warn',
      icon: 'pause',
      title: problems.allPaused,
      text: problems.allPausedMore(states.waiting),
      remedy: { label: problems.resumeAll, does: { action: { path: '/v1/engine/resume', done: TEXT.actions.allResumed } } },
    })
  return found
}

/** The mailbox at a look, and since when it was crowded at every one. A few commands between two turns are nothing. */
export function crowdedSince(depth: number, before: number | undefined, now: number): number | undefined {
  return depth < CROWDED_COMMANDS ? undefined : (before ?? now)
}

const CROWDED_COMMANDS = 100
