/**
 * Writes the settings of queues, their pauses, the levels of their buckets and of their keys' buckets, and the gates of keys that
 * hold jobs back.
 */
import type { Effects, TurnHeader } from '@millrace/core/kernel'
import { settingsText } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareQueues(db: Database): (effects: Effects, turn: TurnHeader) => void {
  const name = db.prepare('INSERT INTO queue (id, name) VALUES (?, ?) ON CONFLICT (id) DO NOTHING')
  const settings = db.prepare(`INSERT INTO queue_settings (queue, settings, paused, missing_ms, missing_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (queue) DO UPDATE SET settings = excluded.settings, paused = excluded.paused, missing_ms = excluded.missing_ms,
  missing_at = excluded.missing_at`)
  const pauseLane = db.prepare('UPDATE lane SET paused = ? WHERE id = ?')
  const pauseKey = db.prepare('INSERT INTO paused_key (queue, key) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const resumeKey = db.prepare('DELETE FROM paused_key WHERE queue = ? AND key = ?')
  const pauseEnd = db.prepare(`INSERT INTO pause_end (queue, part, what, until) VALUES (?, ?, ?, ?)
ON CONFLICT (queue, part, what) DO UPDATE SET until = excluded.until`)
  const forgetPauseEnd = db.prepare('DELETE FROM pause_end WHERE queue = ? AND part = ? AND what = ?')
  const gate = db.prepare(
    'INSERT INTO gate (id, lane, key, parked) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET parked = excluded.parked',
  )
  const forgetGate = db.prepare('DELETE FROM gate WHERE id = ?')
  const bucket = db.prepare(`INSERT INTO key_bucket (queue, key, missing_ms, missing_at) VALUES (?, ?, ?, ?)
ON CONFLICT (queue, key) DO UPDATE SET missing_ms = excluded.missing_ms, missing_at = excluded.missing_at`)
  const takeTurn = db.prepare('INSERT INTO key_turn (queue, key, seq) VALUES (?, ?, ?)')
  const endTurn = db.prepare('DELETE FROM key_turn WHERE queue = ? AND key = ? AND seq = ?')
  const all = db.prepare('UPDATE meta SET paused = ?')
  const forgetBucket = db.prepare('DELETE FROM key_bucket WHERE queue = ? AND key = ?')
  return ({ paused: everything, queues, pausedLanes, pausedKeys, pauseEnds, backlogs, buckets, turnsTaken, turnsOver }, { at, mono }) => {
    if (everything !== undefined) all.run(everything ? 1 : 0)
    for (const queue of queues) {
      if (queue.gone) continue
      name.run(queue.id, queue.name)
      settings.run(queue.id, settingsText(queue), queue.paused ? 1 : 0, Math.max(0, queue.fullMono - mono), at)
    }
    for (const lane of pausedLanes) expectChanges('pause a lane', pauseLane.run(lane.paused ? 1 : 0, lane.id).changes, 1)
    for (const { paused, queue, text } of pausedKeys) if (!queue.gone) (paused ? pauseKey : resumeKey).run(queue.id, text)
    for (const { queue, part, what, until } of pauseEnds.values()) {
      if (until === 0) forgetPauseEnd.run(queue.id, part, what)
      else if (!queue.gone) pauseEnd.run(queue.id, part, what, until)
    }
    // A key whose gate was given up may have another one by now: that one comes later.
    for (const { id, lane, key, parked } of backlogs) {
      if (parked > 0) gate.run(id, lane.id, key.text, parked)
      else forgetGate.run(id)
    }
    for (const { queue, key, seq } of turnsTaken) takeTurn.run(queue.id, key, seq)
    for (const { queue, key, seq } of turnsOver) endTurn.run(queue.id, key, seq)
    for (const { queue, text, fullMono } of buckets) {
      if (fullMono <= mono) forgetBucket.run(queue.id, text)
      else if (!queue.gone) bucket.run(queue.id, text, fullMono - mono, at)
    }
  }
}
