/** Reports workers: each comes once and goes once, however often it reconnects in between. */

import { hasAttached, type Session } from '../records/session.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { undefine } from './define.ts'

/** Notes a session that has attached, maybe again. */
export function appear(turn: TurnContext, { id, intro: { uuid, worker, local, process = '' } }: Session): void {
  const { present } = turn.tables
  const known = present.get(uuid)
  present.set(uuid, { id, worker, local, process, draining: known?.draining ?? false, untilMono: Number.POSITIVE_INFINITY })
  if (known === undefined) tell(turn, uuid, 'worker.attached')
}

export function beginToDrain(turn: TurnContext, uuid: string): void {
  const known = turn.tables.present.get(uuid)
  if (known === undefined || known.draining) return
  known.draining = true
  tell(turn, uuid, 'worker.draining')
}

/** Notes a session that has gone. `session`: its last state, if it was in the tables. */
export function disappear(turn: TurnContext, uuid: string, type: 'worker.left' | 'worker.lost', session?: Session): void {
  if (!turn.tables.present.has(uuid)) return
  tell(turn, uuid, type)
  turn.tables.present.delete(uuid)
  undefine(turn, uuid, session)
}

/** Loses sessions that were on record and have not come back. */
export function lapsePresent(turn: TurnContext): void {
  const { tables, heardMono } = turn
  for (const [uuid, { untilMono }] of tables.present) {
    if (untilMono <= heardMono) disappear(turn, uuid, 'worker.lost')
    else tables.leaseMono = Math.min(tables.leaseMono, untilMono)
  }
}

/** Returns the sessions that are on record and have yet to attach again, with the keys of their processes. */
export function away({ present, sessions }: Tables): [uuid: string, process: string][] {
  return [...present].flatMap(([uuid, { process }]): [string, string][] => (hasAttached(sessions.get(uuid)) ? [] : [[uuid, process]]))
}

function tell({ tables, effects }: TurnContext, uuid: string, type: keyof typeof PRESENCE): void {
  const known = tables.present.get(uuid)
  if (known === undefined) throw new Error(`${type}: nothing is known of session ${uuid}`)
  effects.presence.push({ id: known.id, presence: PRESENCE[type] })
  effects.systemEvent({ type, worker: known.worker, session: String(known.id) })
}

const PRESENCE = { 'worker.attached': 'here', 'worker.draining': 'draining', 'worker.left': 'gone', 'worker.lost': 'gone' } as const
