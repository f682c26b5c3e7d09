/**
 * Writes the settings of queues, their pauses, the levels of their buckets and of their keys' buckets, and the gates of keys that hold jobs
 * back; and what is left of deleted queues.
 */
import type { Effects, PauseEndNote, Queue, TurnHeader } from '@millrace/core/kernel'
import { settingsText, tombstoneOf } from '@millrace/sql'
import { type Batch, columns } from './batch.ts'

const NAMES = 'INSERT INTO queue (id, name) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT (id) DO NOTHING'
const SETTINGS = `INSERT INTO queue_settings (queue, settings, paused, missing_ms, missing_at)
SELECT *, $5::bigint FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::float8[])
ON CONFLICT (queue) DO UPDATE SET settings = excluded.settings, paused = excluded.paused, missing_ms = excluded.missing_ms,
  missing_at = excluded.missing_at`
const PAUSE_LANES =
  'UPDATE lane SET paused = named.paused FROM unnest($1::bigint[], $2::bigint[]) AS named (id, paused) WHERE lane.id = named.id'
const PAUSE_KEYS = 'INSERT INTO paused_key (queue, key) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING'
const RESUME_KEYS =
  'DELETE FROM paused_key USING unnest($1::bigint[], $2::text[]) AS named (queue, key) WHERE paused_key.queue = named.queue AND paused_key.key = named.key'
const PAUSE_ENDS = `INSERT INTO pause_end (queue, part, what, until) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
ON CONFLICT (queue, part, what) DO UPDATE SET until = excluded.until`
const FORGET_PAUSE_ENDS = `DELETE FROM pause_end USING unnest($1::bigint[], $2::text[], $3::text[]) AS named (queue, part, what)
WHERE pause_end.queue = named.queue AND pause_end.part = named.part AND pause_end.what = named.what`
const FORGET_GATES = 'DELETE FROM gate WHERE id = ANY ($1::bigint[])'
const GATES = `INSERT INTO gate (id, lane, key, parked) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[])
ON CONFLICT (id) DO UPDATE SET parked = excluded.parked`
const TAKE_TURNS = 'INSERT INTO key_turn (queue, key, seq) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])'
const END_TURNS = `DELETE FROM key_turn USING unnest($1::bigint[], $2::text[], $3::bigint[]) AS over (queue, key, seq)
WHERE key_turn.queue = over.queue AND key_turn.key = over.key AND key_turn.seq = over.seq`
const FORGET_BUCKETS =
  'DELETE FROM key_bucket USING unnest($1::bigint[], $2::text[]) AS full_one (queue, key) WHERE key_bucket.queue = full_one.queue AND key_bucket.key = full_one.key'
const BUCKETS = `INSERT INTO key_bucket (queue, key, missing_ms, missing_at) SELECT *, $4::bigint FROM unnest($1::bigint[], $2::text[], $3::float8[])
ON CONFLICT (queue, key) DO UPDATE SET missing_ms = excluded.missing_ms, missing_at = excluded.missing_at`

export function writeQueues(batch: Batch, effects: Effects, { at, mono }: TurnHeader): void {
  if (effects.paused !== undefined) batch.add('UPDATE meta SET paused = $1', effects.paused ? 1 : 0)
  const queues = effects.queues.filter(({ gone }) => !gone)
  if (queues.length > 0) {
    batch.add(
      NAMES,
      ...columns(
        queues,
        ({ id }) => id,
        ({ name }) => name,
      ),
    )
    const missingMs = ({ fullMono }: Queue) => Math.max(0, fullMono - mono)
    batch.add(
      SETTINGS,
      ...columns(
        queues,
        ({ id }) => id,
        settingsText,
        ({ paused }) => (paused ? 1 : 0),
        missingMs,
      ),
      at,
    )
  }
  const { pausedLanes } = effects
  if (pausedLanes.length > 0)
    batch.change(
      'pause lanes',
      pausedLanes.length,
      PAUSE_LANES,
      ...columns(
        pausedLanes,
        ({ id }) => id,
        ({ paused }) => (paused ? 1 : 0),
      ),
    )
  writePauseEnds(batch, [...effects.pauseEnds.values()])
  writeKeys(batch, effects)
  writeBuckets(batch, effects, at, mono)
}

function writePauseEnds(batch: Batch, ends: readonly PauseEndNote[]): void {
  const place = [({ queue }: PauseEndNote) => queue.id, ({ part }: PauseEndNote) => part, ({ what }: PauseEndNote) => what] as const
  const over = ends.filter(({ until }) => until === 0)
  const set = ends.filter(({ until, queue }) => until > 0 && !queue.gone)
  if (over.length > 0) batch.add(FORGET_PAUSE_ENDS, ...columns(over, ...place))
  if (set.length > 0) batch.add(PAUSE_ENDS, ...columns(set, ...place, ({ until }) => until))
}

function writeKeys(batch: Batch, { pausedKeys, backlogs, turnsTaken, turnsOver }: Effects): void {
  const there = pausedKeys.filter(({ queue }) => !queue.gone)
  const paused = there.filter((key) => key.paused)
  const resumed = there.filter((key) => !key.paused)
  if (paused.length > 0)
    batch.add(
      PAUSE_KEYS,
      ...columns(
        paused,
        ({ queue }) => queue.id,
        ({ text }) => text,
      ),
    )
  if (resumed.length > 0)
    batch.add(
      RESUME_KEYS,
      ...columns(
        resumed,
        ({ queue }) => queue.id,
        ({ text }) => text,
      ),
    )
  // A key whose gate was given up may have another one by now.
  const given = backlogs.filter(({ parked }) => parked === 0)
  const kept = backlogs.filter(({ parked }) => parked > 0)
  if (given.length > 0) batch.add(FORGET_GATES, ...columns(given, ({ id }) => id))
  if (kept.length > 0)
    batch.add(
      GATES,
      ...columns(
        kept,
        ({ id }) => id,
        ({ lane }) => lane.id,
        ({ key }) => key.text,
        ({ parked }) => parked,
      ),
    )
  const turn = [({ queue }: (typeof turnsTaken)[number]) => queue.id, ({ key }: (typeof turnsTaken)[number]) => key] as const
  if (turnsTaken.length > 0) batch.add(TAKE_TURNS, ...columns(turnsTaken, ...turn, ({ seq }) => seq))
  if (turnsOver.length > 0) batch.add(END_TURNS, ...columns(turnsOver, ...turn, ({ seq }) => seq))
}

function writeBuckets(batch: Batch, { buckets }: Effects, at: number, mono: number): void {
  const full = buckets.filter(({ fullMono }) => fullMono <= mono)
  const others = buckets.filter(({ fullMono, queue }) => fullMono > mono && !queue.gone)
  if (full.length > 0)
    batch.add(
      FORGET_BUCKETS,
      ...columns(
        full,
        ({ queue }) => queue.id,
        ({ text }) => text,
      ),
    )
  if (others.length > 0)
    batch.add(
      BUCKETS,
      ...columns(
        others,
        ({ queue }) => queue.id,
        ({ text }) => text,
        ({ fullMono }) => fullMono - mono,
      ),
      at,
    )
}

/** Renames deleted queues, before others may take their names. */
export function renameDeleted(batch: Batch, gone: readonly Queue[]): void {
  for (const { id, name } of gone) batch.add('UPDATE queue SET name = $1 WHERE id = $2', tombstoneOf(name, id), id)
}

/** Removes what is left of deleted queues, after everything that the turn has noted about them is written. */
export function forgetDeleted(batch: Batch, gone: readonly Queue[]): void {
  if (gone.length === 0) return
  const ids = gone.map(({ id }) => id)
  for (const table of ['queue_settings', 'paused_key', 'pause_end', 'key_bucket', 'finished', 'kept', 'kept_count', 'history'])
    batch.add(`DELETE FROM ${table} WHERE queue = ANY ($1::bigint[])`, ids)
  const lanes = gone.flatMap((queue) => [...queue.lanes.values()].map(({ id }) => id))
  batch.add('DELETE FROM failure WHERE lane = ANY ($1::bigint[])', lanes)
}
