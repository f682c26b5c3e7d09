/** Invariant 18: live tables equal tables that are rebuilt from the store. */
import { ACTIVE } from '@millrace/core'
import { type Job, loadTables, type Queue, type Tables, type TurnStore } from '@millrace/core/kernel'

/** Returns the facts of tables that must not depend on their history; compare those of live ones with those of `rebuilt`. */
export function tableFacts(tables: Tables) {
  return {
    node: tables.node,
    nextSeq: tables.nextSeq,
    nextEvent: tables.nextEvent,
    nextSession: tables.nextSession,
    paused: tables.paused,
    all: { ...tables.all },
    queues: [...tables.queues.values()]
      .map(({ id, name, counts, totals, retrying, kept, minuteAt, settings, paused, drained, emptied, sharing }) => ({
        id,
        name,
        counts,
        totals,
        retrying,
        kept,
        minuteAt,
        settings,
        paused,
        drained,
        emptied,
        sharedActive: sharing?.active,
      }))
      .sort((a, b) => a.id - b.id),
    lanes: [...tables.lanesById.values()]
      .map(({ id, name, queue, paused, counts, totals, retrying, usedAt, usedEvent }) => {
        return { id, name, queue: queue.name, paused, counts, totals, retrying, usedAt, usedEvent }
      })
      .sort((a, b) => a.id - b.id),
    pausedKeys: [...tables.queues.values()].flatMap((queue) => pausedKeys(queue)).sort(),
    pauseEnds: [...tables.queues.values()].flatMap((queue) => pauseEnds(tables, queue)).sort(),
    backlogs: [...tables.keys.backlogsById.values()]
      .filter(({ parked }) => parked > 0)
      .map(({ id, lane, key, parked }) => ({ id, lane: lane.id, key: key.text, parked }))
      .sort((a, b) => a.id - b.id),
    keyBuckets: [...tables.queues.values()].flatMap((queue) => keyBuckets(queue)).sort(),
    exports: [...tables.exports].sort(([a], [b]) => (a < b ? -1 : 1)),
    present: [...tables.present]
      .map(([uuid, { id, local, draining, process }]) => ({ uuid, id, local, draining, process }))
      .sort((a, b) => a.id - b.id),
    definitions: [...tables.definitions.inForce].sort(([a], [b]) => (a < b ? -1 : 1)),
    active: [...tables.jobs.values()]
      .filter((job) => job.state === ACTIVE)
      .map(running)
      .sort((a, b) => a.seq - b.seq),
  }
}

export function rebuilt(store: TurnStore) {
  return tableFacts(loadTables(store, new Set(), { wall: 0, mono: 0 }))
}

function pausedKeys({ name, keys }: Queue): string[] {
  return [...(keys?.values() ?? [])].filter(({ paused }) => paused).map(({ text }) => `${name} ${text}`)
}

function pauseEnds({ dispatchable }: Tables, queue: Queue): string[] {
  return [...dispatchable.pauseEnds.of(queue)].map(({ part, what, until }) => `${queue.name} ${part} ${what} ${until}`)
}

function keyBuckets({ name, keys }: Queue): string[] {
  return [...(keys?.values() ?? [])].filter(({ bucketPlace }) => bucketPlace >= 0).map(({ text }) => `${name} ${text}`)
}

function running({ seq, node, enqueuedAt, run, uncounted, sessionId, startedAt, cancelRequested, checkpoint, progress, logLines }: Job) {
  // Bytes come back from a file as a Buffer, which equals only another Buffer.
  const saved = checkpoint instanceof Uint8Array ? [...checkpoint] : checkpoint
  return { seq, node, enqueuedAt, run, uncounted, sessionId, startedAt, cancelRequested, checkpoint: saved, progress, logLines }
}
