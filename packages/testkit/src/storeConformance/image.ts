/** Everything that a store says when it is asked by every one of its reads, in a form that does not depend on the store. */
import { FAILED, isFinal, LIMITS, type ListFilter, STATES, type StateCode } from '@millrace/core'
import type { DependencyCounter, JobRow, KeptQuery, Loaded, NameAndKey, Questions, TurnQuery, TurnStore } from '@millrace/core/kernel'

/** The parts of a store that every store has. */
export type TestedStore = TurnStore & Questions

/** A bound that no page of a test reaches. */
export const UNBOUNDED = { rows: Number.POSITIVE_INFINITY, late: () => false }

const ALL = Number.MAX_SAFE_INTEGER
const FIRST = { finishedAt: -1, seq: -1 }

/** Texts and filters that some jobs of random turns match. */
const SEARCHES = ['k', 'X', '%', '\u{1f600}']
const FILTERS: readonly ListFilter[] = [{ tag: 'x' }, { name: 'a' }, { queue: 'q' }, { state: FAILED }, { tag: 'x', name: 'b' }]

/** The names to ask by: a store lists neither its keys nor its sources. */
export interface Known {
  readonly keys: readonly NameAndKey[]
  readonly sources: readonly string[]
  /** Jobs up to this one may be there. */
  readonly lastSeq: number
  readonly at: number
}

export type Image = Readonly<Record<string, unknown>>

/** Asks by each read, without bounds. */
export function imageOf(store: TestedStore, known: Known): Image {
  const loaded = store.load()
  const seqs = Array.from({ length: known.lastSeq }, (_, index) => index + 1)
  const rows = store.jobs(seqs)
  const queueIds = [...new Set(loaded.lanes.map(({ queueId }) => queueId))]
  return plain({
    ...imageOfLoad(loaded),
    rows,
    list: store.list({ filter: {}, limit: ALL }, UNBOUNDED),
    searches: SEARCHES.map((search) => seqsOf(store.list({ filter: {}, limit: ALL, search }, UNBOUNDED).rows)),
    filtered: FILTERS.map((filter) => seqsOf(store.list({ filter, limit: ALL }, UNBOUNDED).rows)),
    cut: store.jobs(seqs, 3),
    inPlace: store.jobsInPlace(seqs, ALL),
    attempts: store.attempts(rows),
    withLastRuns: store.withLastRuns(rows),
    lastErrors: seqs.map((seq) => store.lastError(seq)),
    steps: seqs.map((seq) => [store.steps(seq, 0, ALL - 1, ALL), store.step(seq), store.step(seq, 'k')]),
    messages: seqs.map((seq) => [store.messages(seq, undefined, ALL, ALL), store.messages(seq, 'k', 2, 3)]),
    sourced: sorted(store.sourced([...new Set(rows.map(({ node }) => node))].filter((node) => node !== loaded.node))),
    ...imageOfKeys(store, known),
    ...imageOfLines(store, loaded),
    ...imageOfTime(store, loaded),
    ...imageOfFlows(store, rows),
    ...imageOfHistory(store, queueIds, known.at),
    prunable: queueIds.map((id) => prunableSeqs(store, id)),
  })
}

/** Rows that a table of the store has in no order. */
function imageOfLoad({
  queues,
  backlogs,
  buckets,
  lanes,
  active,
  present,
  definitions,
  exports,
  freed,
  minutes,
  kept,
  pauseEnds,
  ...rest
}: Loaded) {
  return {
    ...rest,
    lanes: sorted(lanes),
    queues: sorted(queues.map((queue) => ({ ...queue, pausedKeys: queue.pausedKeys.toSorted() }))),
    backlogs: sorted(backlogs),
    buckets: sorted(buckets),
    active: sorted(active),
    present: sorted(present),
    definitions: sorted(definitions),
    exports: sorted(exports),
    freed: freed.toSorted(),
    minutes: sorted(minutes),
    kept: sorted(kept),
    pauseEnds: sorted(pauseEnds),
  }
}

function imageOfKeys(store: TestedStore, { keys, sources, at }: Known) {
  return {
    idempotent: sorted(store.idempotent(keys, at)),
    /** The keys that only live jobs keep. */
    keptByJobs: sorted(store.idempotent(keys, ALL)),
    keyExpiry: store.keyExpiry(),
    unique: sorted(store.unique(keys)),
    offsets: sorted(store.offsets(sources)),
  }
}

function imageOfLines(store: TestedStore, { lanes, backlogs, queues }: Loaded) {
  return {
    windows: lanes.map(({ id }) => [id, store.window(id, undefined, ALL, ALL), store.oldestWaiting(id)]),
    parked: sorted(backlogs.map(({ id }) => [id, store.parked(id, undefined, ALL, ALL), store.oldestParked(id)])),
    turns: turnQueries(lanes, backlogs, queues).map((query) => store.turns([query], ALL)),
    arrivals: [...new Set(lanes.map(({ queueId }) => queueId))].map((id) => store.arrivals(id, ALL, ALL)),
    failed: store.failed(
      lanes.map(({ id }) => id),
      FIRST,
      LIMITS.jobsPerCommand,
    ),
    matching: STATES.map((_, state) => allMatching(store, state as StateCode)),
  }
}

/** The keys of queues that keep an order. */
function turnQueries(lanes: Loaded['lanes'], backlogs: Loaded['backlogs'], queues: Loaded['queues']): readonly TurnQuery[] {
  const queueOf = new Map(lanes.map(({ id, queueId }) => [id, queueId]))
  const queries = new Map<string, { queueId: number; key: string; backlogIds: number[] }>()
  for (const { id, laneId, key } of backlogs.toSorted((a, b) => a.id - b.id)) {
    const queueId = queueOf.get(laneId) as number
    if (queues.find((queue) => queue.id === queueId)?.settings.keyOrder !== 'strict') continue
    const query = queries.get(`${queueId} ${key}`) ?? { queueId, key, backlogIds: [] }
    query.backlogIds.push(id)
    queries.set(`${queueId} ${key}`, query)
  }
  return [...queries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, query]) => query)
}

function allMatching(store: TestedStore, state: StateCode): readonly JobRow[] {
  const filter = { laneIds: undefined, filter: { state }, indexed: false }
  const rows: JobRow[] = []
  for (let next: number | null = ALL; next !== null; ) {
    const slice = store.matching(filter, next, LIMITS.jobsPerCommand)
    rows.push(...slice.rows)
    next = slice.next
  }
  return rows
}

function imageOfTime(store: TestedStore, { node }: Loaded) {
  const schedules = store.schedulePage('', undefined, ALL)
  return {
    node,
    deadlines: store.deadlines(),
    due: store.due(ALL, LIMITS.jobsPerCommand),
    expired: store.expired(ALL, LIMITS.jobsPerCommand),
    schedulePage: schedules,
    schedules: store.schedules(schedules.map(({ id }) => id)),
    dueSchedules: sorted(store.dueSchedules(ALL, LIMITS.jobsPerCommand)),
  }
}

function imageOfFlows(store: TestedStore, rows: readonly JobRow[]) {
  const seqs = seqsOf(rows)
  const firsts = [...new Set(rows.flatMap(({ extras }) => extras?.flow?.first ?? []))]
  return {
    dependencies: store.dependencies(seqs).map(withoutParent),
    flowDue: store.flowDue(LIMITS.edgesPerFlow).map(({ child, ...due }) => {
      return { ...due, child: child && { ...child, counter: child.counter && withoutParent(child.counter) } }
    }),
    flowLeft: sorted(store.flowLeft(LIMITS.edgesPerFlow)),
    children: store.children(seqs, ALL),
    parents: rows.filter(({ extras }) => extras?.flow !== undefined).map(({ seq }) => store.parents(seq, 0, ALL, ALL)),
    listFlows: store.listFlows({ limit: LIMITS.jobsPerCommand }, UNBOUNDED),
    flowJobs: firsts.map((first) => store.flowJobs(first, { seq: first, place: 0 }, LIMITS.jobsPerCommand, LIMITS.edgesPerFlow)),
  }
}

/** Any one of the jobs that it waits for may stand there. */
function withoutParent({ parent: _, ...counter }: DependencyCounter) {
  return counter
}

function imageOfHistory(store: TestedStore, queueIds: readonly number[], at: number) {
  const { bytes: _, ...journal } = store.journal(at)
  const busy: unknown[] = []
  const count = store.histories({ step: 'minute', from: 0, to: ALL }, ALL, ({ name, minutes, totals }) =>
    busy.push({ name, minutes, totals }),
  )
  return {
    journal,
    events: store.events(0, ALL),
    ends: store.ends(0, ALL, ALL),
    minutes: queueIds.map((id) => [store.minutes(id, 'minute', 0), store.minutes(id, 'hour', 0)]),
    histories: { count, busy },
    failures: sorted(store.failures(undefined, ALL, 'last')),
  }
}

/** What retention would take of a queue. Hints that lead to no job are the store's own business. */
function prunableSeqs(store: TestedStore, queueId: number): readonly (readonly number[])[] {
  const states = STATES.flatMap((_, state) => (isFinal(state as StateCode) ? [state as StateCode] : []))
  return states.map((state) => {
    const query: KeptQuery = { queueId, state, before: ALL, limit: LIMITS.jobsPerCommand }
    return store.prunable([query, { ...query, own: true }], LIMITS.jobsPerCommand).flatMap(({ rows }) => seqsOf(rows))
  })
}

export function seqsOf(rows: readonly { readonly seq: number }[]): readonly number[] {
  return rows.map(({ seq }) => seq)
}

function sorted<T>(rows: readonly T[]): readonly T[] {
  const textOf = (row: T) =>
    JSON.stringify(plain(row), (_, value) => (isRecord(value) ? Object.fromEntries(Object.entries(value).sort()) : value))
  return rows
    .map((row) => [textOf(row), row] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value with bytes as what they are, whatever their class, and without what is undefined. */
export function plain<T>(value: T): T {
  if (value instanceof Uint8Array) return { bytes: [...value] } as T
  if (Array.isArray(value)) return value.map(plain) as T
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, plain(each)]]))) as T
}
