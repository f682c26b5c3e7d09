/**
 * Handles queues with `keyOrder: 'strict'`. Of all jobs with a key, one has its turn, from when it is let go into the line until
 * it is final. Every job that becomes waiting is parked first; the store says whose turn it is
 * (docs/decisions/0021-strict-keys.md).
 */

import { LIMITS } from '../../limits.ts'
import { letGo, standInLine } from '../queues/line.ts'
import type { Job } from '../records/job.ts'
import { type Key, keyTokensFor, mayPay, roomOf } from '../records/keyBacklog.ts'
import type { TurnQuery } from '../records/rows.ts'
import { type Facts, isDeleted } from '../state/facts.ts'
import type { Plan } from '../state/plan.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Reads the turns of keys that have changed, a slice per turn. */
export function gatherTurns(plan: Plan, { keys }: Tables, facts: Facts, mono: number): void {
  const asked: Key[] = []
  for (const key of keys.turns) {
    if (asked.length === LIMITS.sliceRows) break
    // The key is checked again when its run ends, its pause ends, or it has a token.
    if (roomOf(key, mono) > 0) asked.push(key)
    else {
      keys.turns.delete(key)
      keys.awaitToken(key, mono, 1)
    }
  }
  if (asked.length === 0) return
  plan.ask('turns', [asked.map(queryOf), LIMITS.windowBytes], (turns) => {
    for (const [index, { row, taken }] of turns.entries()) {
      const key = asked[index] as Key
      keys.turns.delete(key)
      if (row !== undefined && row.backlogId !== 0) facts.turns.push({ key, job: facts.remember(row), taken })
    }
  })
}

function queryOf({ queue, text, backlogs }: Key): TurnQuery {
  return { queueId: queue.id, key: text, backlogIds: [...backlogs.values()].filter(({ parked }) => parked > 0).map(({ id }) => id) }
}

/** Lets jobs take their keys' turns, after the commands of this turn. Keys that those have changed are asked for again. */
export function passTurns(turn: TurnContext): void {
  const { tables, facts, effects, now } = turn
  if (facts.turns.length === 0) return
  // A job that has ended in this turn and come back takes its key in the next: ended turns are written last.
  const over = new Set(effects.turnsOver.map(({ seq }) => seq))
  for (const { key, job, taken } of facts.turns) {
    if (job.parked === undefined || job.lane.queue !== key.queue || isDeleted(job) || over.has(job.seq) || roomOf(key, now.mono) <= 0) {
      tables.keys.lookAt(key)
      continue
    }
    if (!mayPay(key, now.mono, job)) {
      tables.keys.awaitToken(key, now.mono, keyTokensFor(key, job))
      continue
    }
    if (!taken) effects.turnsTaken.push({ queue: key.queue, key: key.text, seq: job.seq })
    letGo(turn, job)
    standInLine(turn, job)
  }
}

/** Ends the turn of a job's key, if the job has it: the job is final, or is put off before it has ever run. */
export function endTurn({ tables, effects }: TurnContext, job: Job): void {
  const { queue } = job.lane
  const text = job.extras?.concurrencyKey
  if (text === undefined || queue.settings.keyOrder !== 'strict') return
  effects.turnsOver.push({ queue, key: text, seq: job.seq })
  const key = tables.keys.keyOf(job)
  if (key !== undefined) tables.keys.lookAt(key)
}
