/**
 * The simplest Store that keeps the contract: Maps, filters and sorts. It is as strict as a file is: a row must exist, keys are
 * unique, states and times agree. It writes only what a touch bit says, so that a decision that forgets one is found out.
 */
import type { FailedPlace } from '../commands.ts'
import type { JournalEvent } from '../events.ts'
import type { FlowCursor } from '../flowCommands.ts'
import type { JobKey } from '../id.ts'
import { type Data, dataBytes } from '../job.ts'
import { contains } from '../kernel/jobs/contains.ts'
import { type JudgedRun, matchesFilter } from '../kernel/jobs/matchesFilter.ts'
import type { DependencyCounter } from '../kernel/records/flowState.ts'
import {
  DIRTY_COMPLETE,
  DIRTY_DATA,
  DIRTY_DELETE,
  DIRTY_EXTRAS,
  DIRTY_INSERT,
  DIRTY_PLACE,
  DIRTY_START,
  type Job,
} from '../kernel/records/job.ts'
import { addSums, type Counts, newSums } from '../kernel/records/lane.ts'
import type {
  ActiveRow,
  BucketRow,
  Deadlines,
  DefinitionRow,
  EndsPage,
  FailureRow,
  FlowDueRow,
  FlowLeftRow,
  IdempotentHolder,
  JobRow,
  KeptCounts,
  KeptQuery,
  KeyBacklogRow,
  KeyHolder,
  LaneCursor,
  LaneRow,
  Loaded,
  NameAndKey,
  ParentRow,
  PauseEndRow,
  Prunable,
  PrunableRow,
  QueueRow,
  TurnQuery,
  TurnRow,
} from '../kernel/records/rows.ts'
import type { Schedule } from '../kernel/records/ticks.ts'
import type { Effects, PresenceNote } from '../kernel/state/effects.ts'
import type { HistorySpan, MinuteRow, QueueMinutes } from '../kernel/state/history.ts'
import type { FlowRows, FlowsQuery, ListQuery, ListRows, Matching, ScanBound } from '../kernel/state/lists.ts'
import { answersOf, type LogsQuery, type Question, type Store, type TurnHeader } from '../kernel/state/store.ts'
import { StoreFailure } from '../kernel/state/storeFailure.ts'
import type { LogRecord, PrunedJob, RunRecord, SourceOffset, StepMark } from '../kernel/state/turnRows.ts'
import { ACTIVE, BLOCKED, COMPLETED, FAILED, isFinal, SCHEDULED, WAITING } from '../lifecycle.ts'
import { LIMITS } from '../limits.ts'
import type { FailuresOrder, HistoryStep } from '../observeCommands.ts'
import type { PayloadName } from '../options/payload.ts'
import { parsePolicy } from '../policy.ts'
import type { AttemptView, NumberedLine } from '../replies.ts'
import type { JournalExtent } from '../retention.ts'
import type { RunError } from '../runError.ts'
import type { Totals } from '../stats.ts'
import type { KeptMessage, StepResult } from '../steps.ts'
import { MemoryFlows } from './memoryFlows.ts'
import { MemoryJournal } from './memoryJournal.ts'
import { cutRow, listOf } from './memoryLists.ts'
import { MemoryObserved } from './memoryObserved.ts'
import { MemoryRuns } from './memoryRuns.ts'
import { Undo, UndoMap } from './undo.ts'

interface StoredKey extends JobKey {
  readonly expiresAt: number
  readonly lastSeq: number | undefined
  readonly lapsed: boolean
}

interface StoredSession {
  readonly uuid: string
  readonly worker: string
  readonly remote: boolean
  readonly presence: PresenceNote['presence']
  readonly process: string
}

export class MemoryStore implements Store {
  /** The kinds of each round of questions of the turn that was taken last. */
  readonly rounds: (readonly Question['kind'][])[] = []
  readonly node: number
  readonly care = undefined
  readonly #textBytes: (text: string) => number
  readonly #undo = new Undo()
  readonly rows: Map<number, JobRow> = new UndoMap(this.#undo)
  readonly lanes: Map<number, LaneRow> = new UndoMap(this.#undo)
  readonly queues: Map<number, QueueRow> = new UndoMap(this.#undo)
  readonly backlogs: Map<number, KeyBacklogRow> = new UndoMap(this.#undo)
  readonly buckets: Map<string, BucketRow> = new UndoMap(this.#undo)
  readonly pauseEnds: Map<string, PauseEndRow> = new UndoMap(this.#undo)
  /** The jobs that have their keys' turns. */
  readonly turnsOf: Map<string, number> = new UndoMap(this.#undo)
  /** Jobs that were last written whole while their queue dropped its oldest, and that queue. */
  readonly #droppable: Map<number, number> = new UndoMap(this.#undo)
  /** The turns in which jobs have finished last: each is the number of the event after its last. */
  readonly #finishedIn: Map<number, number> = new UndoMap(this.#undo)
  /** The turn in which a job has first finished so at that time, by job and state: files know no end within a millisecond from another. */
  readonly #firstIn: Map<string, { readonly at: number; readonly turn: number }> = new UndoMap(this.#undo)
  readonly kept: Map<number, KeptCounts> = new UndoMap(this.#undo)
  readonly sessions: Map<number, StoredSession> = new UndoMap(this.#undo)
  readonly definitions: Map<string, DefinitionRow> = new UndoMap(this.#undo)
  readonly idempotencyKeys: Map<string, StoredKey> = new UndoMap(this.#undo)
  readonly sourceOffsets: Map<string, number> = new UndoMap(this.#undo)
  readonly exportCursors: Map<string, number> = new UndoMap(this.#undo)
  readonly scheduleRows: Map<string, Schedule> = new UndoMap(this.#undo)
  /** Holders of unique keys, by name and key. */
  readonly uniqueKeys: Map<string, number> = new UndoMap(this.#undo)
  readonly #runs = new MemoryRuns(this.#undo)
  readonly flows = new MemoryFlows(this, this.#undo)
  readonly #journal = new MemoryJournal(this.#undo)
  readonly observed = new MemoryObserved(this.#undo)
  paused = false
  writes = 0
  #nextLane = 1
  #nextQueue = 1
  #header: TurnHeader = { at: 0, mono: 0, nextSeq: 1, nextEvent: 1, nextSession: 1, running: () => [] }

  /** @param textBytes measures a payload that is a string; a database may count its bytes in UTF-8 */
  constructor(node = 7, textBytes = (text: string): number => text.length) {
    this.node = node
    this.#textBytes = textBytes
  }

  get runs(): readonly RunRecord[] {
    return this.#runs.runs
  }

  get logs(): readonly LogRecord[] {
    return this.#runs.logs
  }

  get history(): readonly JournalEvent[] {
    return this.#journal.events
  }

  read(questions: readonly Question[]): readonly unknown[] {
    this.rounds.push(questions.map(({ kind }) => kind))
    return answersOf(this, questions)
  }

  load(): Loaded {
    const { nextSeq, nextEvent, nextSession } = this.#header
    return {
      node: this.node,
      nextSeq,
      nextEvent,
      nextSession,
      nextLane: this.#nextLane,
      nextQueue: this.#nextQueue,
      paused: this.paused,
      queues: [...this.queues.values()],
      pauseEnds: [...this.pauseEnds.values()],
      backlogs: [...this.backlogs.values()],
      buckets: [...this.buckets.values()],
      lanes: [...this.lanes.values()],
      active: this.#where((row) => row.state === ACTIVE).map((row) => this.#active(row)),
      present: [...this.sessions]
        .filter(([, { presence }]) => presence !== 'gone')
        .map(([id, { uuid, worker, remote, presence, process }]) => ({
          id,
          uuid,
          worker,
          remote,
          draining: presence === 'draining',
          process,
        })),
      definitions: [...this.definitions.values()],
      exports: [...this.exportCursors].map(([name, cursor]) => ({ name, cursor })),
      freed: [...this.scheduleRows.values()].filter(({ held, last }) => held && !this.#isLive(last)).map(({ id }) => id),
      flowWork: this.flows.due.size > 0 || this.flows.gone.size > 0,
      minutes: this.observed.lastMinutes(),
      kept: [...this.kept.values()],
    }
  }

  jobs(seqs: readonly number[], payloadBytes?: number): JobRow[] {
    const rows = seqs.flatMap((seq) => this.rows.get(seq) ?? [])
    return payloadBytes === undefined ? rows : rows.map((row) => cutRow(row, payloadBytes))
  }

  keyExpiry(): number {
    return [...this.idempotencyKeys.values()].map(({ expiresAt }) => expiresAt).sort((one, other) => one - other)[0] ?? 0
  }

  idempotent(keys: readonly NameAndKey[], at: number): IdempotentHolder[] {
    return keys.flatMap(({ name, key }) => {
      const found = this.idempotencyKeys.get(keyOf(name, key))
      if (found === undefined) return []
      const isOver = found.lapsed || found.expiresAt <= at
      if (isOver && !this.#isKept(found)) return []
      const { seq, node, enqueuedAt, lastSeq } = found
      return [{ name, key, seq, node, enqueuedAt, until: isOver ? lastSeq : undefined }]
    })
  }

  #isKept({ seq, lastSeq = 0 }: StoredKey): boolean {
    for (let at = seq; at <= lastSeq; at++) if ((this.rows.get(at)?.state ?? COMPLETED) < COMPLETED) return true
    return false
  }

  unique(keys: readonly NameAndKey[]): KeyHolder[] {
    return keys.flatMap(({ name, key }) => {
      const row = this.rows.get(this.uniqueKeys.get(keyOf(name, key)) ?? 0)
      return row === undefined ? [] : [{ name, key, seq: row.seq, node: row.node, enqueuedAt: row.enqueuedAt }]
    })
  }

  sourced(nodes: readonly number[], payloadBytes?: number): JobRow[] {
    const rows = this.#where(({ node }) => nodes.includes(node))
    return payloadBytes === undefined ? rows : rows.map((row) => cutRow(row, payloadBytes))
  }

  offsets(sources: readonly string[]): SourceOffset[] {
    return sources.flatMap((source) => {
      const offset = this.sourceOffsets.get(source)
      return offset === undefined ? [] : [{ source, offset }]
    })
  }

  window(laneId: number, after: LaneCursor | undefined, jobs: number, bytes: number): { rows: JobRow[]; complete: boolean } {
    return this.#part((row) => row.laneId === laneId && row.state === WAITING && row.backlogId === 0, after, jobs, bytes)
  }

  parked(backlogId: number, after: LaneCursor | undefined, jobs: number, bytes: number): { rows: JobRow[]; complete: boolean } {
    return this.#part((row) => row.backlogId === backlogId, after, jobs, bytes)
  }

  arrivals(queueId: number, limit: number, bytes: number): { rows: JobRow[]; complete: boolean } {
    const isOf = ({ seq, state }: JobRow) => (state === SCHEDULED || state === WAITING) && this.#droppable.get(seq) === queueId
    const rows: JobRow[] = []
    let taken = 0
    for (const row of this.#where(isOf).sort((a, b) => a.seq - b.seq)) {
      taken += this.sizeOf(row.checkpoint)
      if (rows.length > 0 && (rows.length >= limit || taken > bytes)) return { rows, complete: false }
      rows.push({ ...row, data: null })
    }
    return { rows, complete: true }
  }

  /** Returns as few rows as are allowed, so that slices are cut. */
  turns(keys: readonly TurnQuery[], bytes: number): TurnRow[] {
    const found: TurnRow[] = []
    let taken = 0
    for (const { queueId, key, backlogIds } of keys) {
      const seq = this.turnsOf.get(keyOf(`${queueId}`, key))
      const parked = this.#where((row) => backlogIds.includes(row.backlogId)).sort((a, b) => a.seq - b.seq)
      const row = seq === undefined ? parked[0] : this.rows.get(seq)
      taken += row === undefined ? 0 : this.#bytesOf(row)
      if (found.length > 0 && taken > bytes) break
      found.push({ row, taken: seq !== undefined })
    }
    return found
  }

  /** Returns the size of a payload. */
  sizeOf(payload: JobRow['data']): number {
    return typeof payload === 'string' ? this.#textBytes(payload) : (payload?.length ?? 0)
  }

  #bytesOf({ data, checkpoint, output }: JobRow): number {
    return this.sizeOf(data) + this.sizeOf(checkpoint) + this.sizeOf(output)
  }

  #part(
    stands: (row: JobRow) => boolean,
    after: LaneCursor | undefined,
    jobs: number,
    bytes: number,
  ): { rows: JobRow[]; complete: boolean } {
    const line = this.#where((row) => stands(row) && (after === undefined || inLine(after, row) < 0))
    line.sort(inLine)
    const rows: JobRow[] = []
    let taken = 0
    for (const row of line) {
      taken += this.#bytesOf(row)
      if (rows.length > 0 && (rows.length >= jobs || taken > bytes)) return { rows, complete: false }
      rows.push(row)
    }
    return { rows, complete: true }
  }

  due(at: number, limit: number): JobRow[] {
    return this.#where((row) => row.state === SCHEDULED && row.runAt <= at)
      .sort((a, b) => a.runAt - b.runAt || a.seq - b.seq)
      .slice(0, limit)
  }

  expired(at: number, limit: number): JobRow[] {
    return this.#where((row) => canExpire(row) && row.expiresAt <= at)
      .sort((a, b) => a.expiresAt - b.expiresAt || a.seq - b.seq)
      .slice(0, limit)
  }

  failed(laneIds: readonly number[], after: FailedPlace, limit: number): JobRow[] {
    return this.#where((row) => row.state === FAILED && laneIds.includes(row.laneId) && byAge(row, after) > 0)
      .sort(byAge)
      .slice(0, limit)
  }

  matching(
    { laneIds, filter: { queue: _queue, name: _name, ...filter }, text }: Matching,
    before: number,
    limit: number,
  ): { rows: JobRow[]; next: number | null } {
    const walked = this.#where(({ seq }) => seq < before).sort((a, b) => b.seq - a.seq)
    const seen = walked.slice(0, LIMITS.walkRows)
    const rows: JobRow[] = []
    for (const row of seen) {
      if (rows.length === limit) return { rows, next: (rows.at(-1) as JobRow).seq }
      const isMeant = laneIds?.includes(row.laneId) !== false && matchesFilter(filter, row, { queue: '', name: '' }, this.lastRunOf(row))
      if (isMeant && (text === undefined || contains(text, row, this.lanes.get(row.laneId)?.name ?? ''))) rows.push(row)
    }
    return { rows, next: seen.length < walked.length ? (seen.at(-1) as JobRow).seq : null }
  }

  prunable(kept: readonly KeptQuery[], limit: number): Prunable[] {
    let room = limit
    return kept.flatMap((query) => {
      const rows = this.#keptTooLong(query).slice(0, room)
      room -= rows.length
      return rows.length === 0 ? [] : { own: query.own === true, rows, token: undefined }
    })
  }

  #keptTooLong({ queueId, state, before, limit, lastEvent = Number.POSITIVE_INFINITY, own = false }: KeptQuery): PrunableRow[] {
    const turnOf = ({ seq }: JobRow) => this.#firstIn.get(keyOf(`${seq}`, `${state}`))?.turn ?? 0
    /** The time by which the rows are taken: the end of the job, or of its own time. */
    const timeOf = ({ finishedAt, policy }: JobRow) => finishedAt + (parsePolicy(policy).keep ?? 0)
    const rows = this.#where((row) => row.state === state && isFinal(state) && this.lanes.get(row.laneId)?.queueId === queueId)
      .filter((row) => (parsePolicy(row.policy).keep !== undefined) === own && timeOf(row) < before)
      .sort((a, b) => (own ? timeOf(a) - timeOf(b) : 0) || turnOf(a) - turnOf(b) || a.laneId - b.laneId || a.seq - b.seq)
    const held = rows.findIndex((row) => turnOf(row) - 1 > lastEvent)
    return rows.slice(0, Math.min(limit, held < 0 ? rows.length : held)).map(({ seq, laneId, extras }) => ({ seq, laneId, state, extras }))
  }

  dependencies(seqs: readonly number[]): DependencyCounter[] {
    return seqs.flatMap((seq) => this.flows.counters.get(seq) ?? []).map((backlog) => ({ ...backlog }))
  }

  flowDue(limit: number): FlowDueRow[] {
    return this.flows.dueRows(limit)
  }

  flowLeft(limit: number): FlowLeftRow[] {
    return this.flows.leftRows(limit)
  }

  /** Returns as few rows as are allowed, so that slices are cut. */
  children(seqs: readonly number[], bytes: number): { rows: JobRow[]; complete: boolean } {
    const rows: JobRow[] = []
    let taken = 0
    for (const row of this.jobs(seqs)) {
      taken += this.sizeOf(row.checkpoint)
      if (rows.length > 0 && taken > bytes) return { rows, complete: false }
      rows.push({ ...row, data: null, output: null })
    }
    return { rows, complete: true }
  }

  parents(seq: number, after: number, limit: number, bytes: number): { rows: ParentRow[]; complete: boolean } {
    return this.flows.parents(seq, after, limit, bytes)
  }

  flowJobs(first: number, from: FlowCursor, limit: number, edges: number): ReturnType<MemoryFlows['jobs']> {
    return this.flows.jobs(first, from, limit, edges)
  }

  listFlows(query: FlowsQuery, bound: ScanBound): FlowRows {
    return this.flows.list(query, bound)
  }

  deadlines(): Deadlines {
    return {
      dueAt: least(this.#where((row) => row.state === SCHEDULED).map((row) => row.runAt)),
      expiresAt: least(this.#where(canExpire).map((row) => row.expiresAt)),
      fireAt: least([...this.scheduleRows.values()].filter(canFire).map(({ fireAt }) => fireAt)),
    }
  }

  schedules(ids: readonly string[]): Schedule[] {
    return ids.flatMap((id) => this.#schedulesWhere((schedule) => schedule.id === id))
  }

  dueSchedules(at: number, limit: number): Schedule[] {
    return this.#schedulesWhere((schedule) => canFire(schedule) && schedule.fireAt <= at)
      .sort((a, b) => a.fireAt - b.fireAt)
      .slice(0, limit)
  }

  schedulePage(prefix: string, after = '', limit: number): Schedule[] {
    return this.#schedulesWhere(({ id }) => id.startsWith(prefix) && id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit)
      .map((schedule) => ({ ...schedule, job: { ...schedule.job, data: null } }))
  }

  jobsInPlace(seqs: readonly number[], bytes: number): (JobRow | undefined)[] {
    let taken = 0
    const rows = seqs.map((seq) => this.rows.get(seq))
    const end = rows.findIndex((row, index) => {
      taken += row === undefined ? 0 : this.#bytesOf(row)
      return index > 0 && taken > bytes
    })
    return end < 0 ? rows : rows.slice(0, end)
  }

  attempts(rows: readonly JobRow[]): AttemptView[][] {
    return rows.map((row) => this.#runs.attemptsOf(row, this.#workerOf(row)))
  }

  logLines(seq: number, run: number, query: LogsQuery): NumberedLine[] {
    return this.#runs.page(seq, run, query)
  }

  step(seq: number, wanted?: string): StepMark | undefined {
    const all = this.#runs.stepsOf(seq)
    const found = all.find(({ name, error }) => (wanted === undefined ? error !== undefined : name === wanted))
    if (found === undefined) return undefined
    const { number, asked, name } = found
    const next = all.find((each) => each.asked > number)?.name
    return { number, asked, name, ...(next !== undefined && { next }) }
  }

  steps(seq: number, after: number, limit: number, bytes: number): { readonly results: StepResult[]; readonly complete: boolean } {
    const behind = this.#runs.stepsOf(seq).filter(({ number }) => number > after)
    const end = endOfPage(behind, limit, bytes)
    return { results: behind.slice(0, end).map(({ seq: _seq, ...result }) => result), complete: end === behind.length }
  }

  messages(seq: number, wanted: string | undefined, limit: number, bytes: number): KeptMessage[] {
    const kept = this.#runs.messagesOf(seq).filter(({ name }) => wanted === undefined || name === wanted)
    return kept.slice(0, endOfPage(kept, limit, bytes)).map(({ seq: _seq, ...message }) => message)
  }

  withLastRuns(rows: readonly JobRow[]): JobRow[] {
    return rows.map((row) => this.#runs.withLastRun(row, this.#workerOf(row)))
  }

  #workerOf({ sessionId }: JobRow): string {
    return this.sessions.get(sessionId)?.worker ?? ''
  }

  lastError(seq: number): RunError | undefined {
    return this.#runs.lastError(seq)
  }

  list(query: ListQuery): ListRows {
    return listOf(this, query)
  }

  lastRunOf(row: JobRow): JudgedRun | undefined {
    return this.#runs.attemptsOf(row, this.#workerOf(row)).at(-1)
  }

  /** Returns the place of a final job among those of its state: its time, or the turn that ended it. */
  endOf({ seq, state, finishedAt }: JobRow): number {
    return state === FAILED ? finishedAt : (this.#finishedIn.get(seq) ?? 0)
  }

  payload(seq: number, name: PayloadName): JobRow['data'] {
    return this.rows.get(seq)?.[name] ?? null
  }

  oldestWaiting(laneId: number): number {
    return least(this.#where((row) => row.laneId === laneId && row.state === WAITING && row.backlogId === 0).map((row) => row.runAt))
  }

  oldestParked(backlogId: number): number {
    return least(this.#where((row) => row.backlogId === backlogId).map((row) => row.runAt))
  }

  minutes(queueId: number, step: HistoryStep, from: number): MinuteRow[] {
    return this.observed.minutes(queueId, step, from)
  }

  histories({ step, from, to }: HistorySpan, limit: number, visit: (queue: QueueMinutes) => void): number {
    const sumOf = ({ enqueued, completed, failed, cancelled }: Totals) => enqueued + completed + failed + cancelled
    const queues = [...new Map([...this.lanes.values()].map(({ queueId, queue }) => [queueId, queue]))].map(([id, name]) => {
      const sums = newSums()
      for (const lane of this.lanes.values()) if (lane.queueId === id) addSums(sums, lane)
      const minutes = this.minutes(id, step, from)
      const first = minutes.find(({ at }) => at < to)?.totals ?? sums.totals
      const last = minutes.find(({ at }) => at >= to)?.totals ?? sums.totals
      return { id, name, minutes, totals: sums.totals, count: sumOf(last) - sumOf(first) }
    })
    const active = queues.filter(({ count }) => count > 0).toSorted((one, other) => other.count - one.count || one.id - other.id)
    for (const queue of active.slice(0, limit)) visit(queue)
    return active.length
  }

  failures(laneIds: readonly number[] | undefined, limit: number, order: FailuresOrder): FailureRow[] {
    return this.observed.failures(laneIds, limit, order).map(({ seq, run, ...failure }) => {
      const row = this.rows.get(seq)
      const job = row && { seq, node: row.node, enqueuedAt: row.enqueuedAt }
      return { ...failure, job, message: job && this.#runs.errorOf(seq, run)?.message }
    })
  }

  events(after: number, limit: number): JournalEvent[] {
    return this.#journal.after(after, limit)
  }

  ends(after: number, limit: number, eventsMax: number): EndsPage {
    return this.#journal.ends(after, limit, eventsMax)
  }

  journal(at: number): JournalExtent {
    return this.#journal.extent(at)
  }

  write(effects: Effects, header: TurnHeader): void {
    const before = { paused: this.paused, nextLane: this.#nextLane, nextQueue: this.#nextQueue, header: this.#header }
    this.#undo.whole(() => {
      this.#undo.note(() => {
        this.paused = before.paused
        this.#nextLane = before.nextLane
        this.#nextQueue = before.nextQueue
        this.#header = before.header
      })
      this.#write(effects, header)
    })
  }

  #write(effects: Effects, header: TurnHeader): void {
    this.writes++
    this.#header = { ...header }
    for (const lane of [...effects.newLanes, ...effects.countedLanes]) {
      const { id, queue, name, counts, totals, retrying } = lane
      const paused = this.lanes.get(id)?.paused ?? false
      this.#nextLane = Math.max(this.#nextLane, id + 1)
      this.#nextQueue = Math.max(this.#nextQueue, queue.id + 1)
      this.lanes.set(id, {
        id,
        queueId: queue.id,
        queue: queue.name,
        name,
        paused,
        counts: [...counts] as Counts,
        totals: { ...totals },
        retrying,
        usedAt: header.at,
        usedEvent: header.nextEvent,
      })
    }
    this.#writeQueues(effects, header)
    for (const { id, intro } of effects.newSessions) {
      const before = this.sessions.get(id)
      if (before !== undefined && before.remote === !intro.local) throw broken(`session ${id} is there already`)
      const presence = before?.presence ?? 'gone'
      this.sessions.set(id, { uuid: intro.uuid, worker: intro.worker, remote: !intro.local, presence, process: intro.process ?? '' })
    }
    for (const { id, presence } of effects.presence) {
      const session = this.sessions.get(id)
      if (session === undefined || session.presence === presence) throw broken(`session ${id} is ${presence} already`)
      this.sessions.set(id, { ...session, presence })
    }
    for (const row of effects.definitions) this.definitions.set(row.name, structuredClone(row))
    for (const name of effects.definitionsGone) if (!this.definitions.delete(name)) throw broken(`nothing is defined of ${name}`)
    for (const job of effects.jobs) this.#writeJob(job, header.at)
    for (const job of effects.jobs) if (isCopy(job) && !(job.dirty & DIRTY_DELETE)) this.#copyPayload(job)
    this.#runs.write(effects)
    this.observed.write(effects, header.at)
    this.#writeKeys(effects)
    this.flows.write(effects.flowEffects)
    for (const { source, offset } of effects.sourceOffsets) {
      if (offset <= (this.sourceOffsets.get(source) ?? 0)) throw broken(`the offset of source ${source} moves back to ${offset}`)
      this.sourceOffsets.set(source, offset)
    }
    for (const name of effects.exportsGone) this.exportCursors.delete(name)
    for (const { name, cursor } of effects.exports) this.exportCursors.set(name, cursor)
    this.#writeSchedules(effects)
    for (const job of effects.jobs) if (job.dirty & DIRTY_DELETE) this.#delete(job)
    for (const { seq } of effects.pruned) if (!this.rows.has(seq)) throw broken(`there is no job ${seq}`)
    for (const job of effects.pruned) this.#delete(job)
    for (const { id: queueId, kept } of effects.keptQueues) {
      const [, , , , completed, failed, cancelled] = kept
      if (completed + failed + cancelled > 0) this.kept.set(queueId, { queueId, completed, failed, cancelled })
      else this.kept.delete(queueId)
    }
    for (const { id, queue } of effects.lanesGone) {
      if (!this.lanes.delete(id)) throw broken(`there is no lane ${id}`)
      for (const row of this.rows.values()) if (row.laneId === id) throw broken(`lane ${id} of ${queue.name} has job ${row.seq}`)
      this.observed.forgetLanes([id])
    }
    for (const queue of effects.queuesGone) {
      for (const { id } of queue.lanes.values()) this.lanes.delete(id)
      this.queues.delete(queue.id)
      for (const [key, { queueId }] of this.buckets) if (queueId === queue.id) this.buckets.delete(key)
      for (const [place, { queueId }] of this.pauseEnds) if (queueId === queue.id) this.pauseEnds.delete(place)
      this.kept.delete(queue.id)
      this.observed.forget(
        queue.id,
        [...queue.lanes.values()].map(({ id }) => id),
      )
    }
    for (const { seq, state, finishedAt, dirty } of effects.settled) {
      if (finishedAt !== header.at || dirty & DIRTY_DELETE) continue
      this.#finishedIn.set(seq, header.nextEvent)
      const place = keyOf(`${seq}`, `${state}`)
      if (this.#firstIn.get(place)?.at !== finishedAt) this.#firstIn.set(place, { at: finishedAt, turn: header.nextEvent })
    }
    this.#journal.write(effects, header.at, header.nextEvent)
    if (effects.forgetKeysBefore > 0) {
      const over = [...this.idempotencyKeys].filter(([, { expiresAt }]) => expiresAt <= effects.forgetKeysBefore)
      // Of those that expire together, in the order of their names, as a file has them.
      over.sort(([a, one], [b, other]) => one.expiresAt - other.expiresAt || (a < b ? -1 : 1))
      for (const [key, stored] of over.slice(0, effects.forgetKeysLimit)) {
        if (!this.#isKept(stored)) this.idempotencyKeys.delete(key)
        else this.idempotencyKeys.set(key, { ...stored, lapsed: true, expiresAt: effects.forgetKeysBefore + LIMITS.keysKeptMs })
      }
    }
  }

  reopen(): void {}

  close(): void {}

  #where(test: (row: JobRow) => boolean): JobRow[] {
    return [...this.rows.values()].filter(test)
  }

  /** Returns copies, as a file's rows are. */
  #schedulesWhere(test: (row: Schedule) => boolean): Schedule[] {
    return [...this.scheduleRows.values()].filter(test).map((row) => ({ ...row }))
  }

  #isLive(last: JobKey | undefined): boolean {
    const row = this.rows.get(last?.seq ?? 0)
    return row !== undefined && !isFinal(row.state)
  }

  #writeSchedules({ schedules }: Effects): void {
    for (const [schedule, change] of schedules) {
      const before = this.scheduleRows.get(schedule.id)
      if (change === 'delete') this.scheduleRows.delete(schedule.id)
      else if (change === 'put') this.scheduleRows.set(schedule.id, { ...schedule })
      else if (before === undefined) throw broken(`there is no schedule ${schedule.id}`)
      else this.scheduleRows.set(schedule.id, { ...schedule, spec: before.spec, job: before.job, anchor: before.anchor })
    }
  }

  /** Returns the row without its payload, as a file reads it: the worker that runs the job has that already. */
  #active(row: JobRow): ActiveRow {
    const session = this.sessions.get(row.sessionId)
    return {
      ...row,
      data: null,
      sessionUuid: session?.uuid ?? '',
      worker: session?.worker ?? '',
      remote: session?.remote === true,
      logLines: this.#runs.linesOf(row.seq, row.run),
    }
  }

  #writeJob(job: Job, at: number): void {
    const { dirty, seq } = job
    const before = this.rows.get(seq)
    if (dirty & DIRTY_INSERT) {
      if (before !== undefined) throw broken(`job ${seq} is there already`)
      if (dirty & DIRTY_DELETE) return
      this.#put(rowOf(job, isCopy(job) ? null : payloadOf(job)))
      this.#noteDroppable(job)
      return
    }
    if (before === undefined) throw broken(`there is no job ${seq}`)
    if (dirty & DIRTY_DELETE) return
    if (dirty === DIRTY_START && job.startedAt === at) {
      if (before.state !== WAITING) throw broken(`job ${seq} started from state ${before.state}`)
      this.#put({ ...before, state: ACTIVE, run: job.run, sessionId: job.sessionId, startedAt: at })
    } else if (dirty === DIRTY_COMPLETE && job.finishedAt === at) {
      if (before.state !== ACTIVE) throw broken(`job ${seq} completed from state ${before.state}`)
      this.#put({ ...before, state: COMPLETED, finishedAt: at, output: job.output })
    } else if (dirty === DIRTY_EXTRAS) this.#put({ ...before, extras: job.extras })
    else {
      const { laneId, policy, extras } = before
      const row = rowOf(job, dirty & DIRTY_DATA ? payloadOf(job) : before.data)
      this.#put(dirty & (DIRTY_PLACE | DIRTY_EXTRAS) ? row : { ...row, laneId, policy, extras })
      this.#noteDroppable(job)
    }
  }

  #copyPayload({ seq, payloadOf: from }: Job): void {
    const [row, source] = [this.rows.get(seq), this.rows.get(from)]
    if (row === undefined || source === undefined) throw broken(`job ${seq} takes the payload of job ${from}, which is gone`)
    this.#put({ ...row, data: source.data })
  }

  #noteDroppable({ seq, lane: { queue }, extras }: Job): void {
    if (queue.settings.onFull === undefined || extras?.steps !== undefined) this.#droppable.delete(seq)
    else this.#droppable.set(seq, queue.id)
  }

  #put(row: JobRow): void {
    if (isFinal(row.state) !== row.finishedAt > 0) throw broken(`job ${row.seq} in state ${row.state} finished at ${row.finishedAt}`)
    if (row.state === ACTIVE && (row.run === 0 || row.sessionId === 0 || row.startedAt === 0))
      throw broken(`job ${row.seq} runs without a run, a session or a start`)
    if (row.backlogId !== 0 && row.state !== WAITING) throw broken(`job ${row.seq} is parked in state ${row.state}`)
    if (row.uncounted < 0 || row.uncounted > row.run) throw broken(`job ${row.seq}: ${row.uncounted} of ${row.run} runs uncounted`)
    for (const time of [row.runAt, row.expiresAt, row.startedAt, row.finishedAt])
      if (!Number.isSafeInteger(time)) throw broken(`job ${row.seq} has the time ${time}`)
    this.rows.set(row.seq, row)
  }

  #writeQueues(
    { paused: all, queues, pausedLanes, pausedKeys, pauseEnds, backlogs, buckets, turnsTaken, turnsOver }: Effects,
    { at, mono }: TurnHeader,
  ): void {
    this.paused = all ?? this.paused
    for (const { id, name, settings, paused, fullMono, gone } of queues) {
      if (gone) continue
      this.#nextQueue = Math.max(this.#nextQueue, id + 1)
      this.queues.set(id, {
        ...{ id, name, settings, paused, pausedKeys: this.queues.get(id)?.pausedKeys ?? [] },
        ...{ missingMs: Math.max(0, fullMono - mono), missingAt: at },
      })
    }
    for (const { queue, text, paused } of pausedKeys) {
      if (queue.gone) continue
      const row = this.queues.get(queue.id)
      if (row === undefined) throw broken(`there is no queue ${queue.id}`)
      const others = row.pausedKeys.filter((key) => key !== text)
      this.queues.set(queue.id, { ...row, pausedKeys: paused ? [...others, text] : others })
    }
    for (const { id, paused } of pausedLanes) {
      const lane = this.lanes.get(id)
      if (lane === undefined) throw broken(`there is no lane ${id}`)
      this.lanes.set(id, { ...lane, paused })
    }
    for (const [text, { queue, part, what, until }] of pauseEnds) {
      if (until === 0) this.pauseEnds.delete(text)
      else if (!queue.gone) this.pauseEnds.set(text, { queueId: queue.id, part, what, until })
    }
    for (const { id, lane, key, parked } of backlogs) {
      if (parked > 0) this.backlogs.set(id, { id, laneId: lane.id, key: key.text, parked })
      else this.backlogs.delete(id)
    }
    for (const { queue, key, seq } of turnsTaken) {
      if (this.turnsOf.has(keyOf(`${queue.id}`, key))) throw broken(`key ${key} has its turn taken`)
      this.turnsOf.set(keyOf(`${queue.id}`, key), seq)
    }
    for (const { queue, key, seq } of turnsOver)
      if (this.turnsOf.get(keyOf(`${queue.id}`, key)) === seq) this.turnsOf.delete(keyOf(`${queue.id}`, key))
    for (const { queue, text: key, fullMono } of buckets) {
      if (fullMono <= mono) this.buckets.delete(keyOf(`${queue.id}`, key))
      else if (!queue.gone)
        this.buckets.set(keyOf(`${queue.id}`, key), { queueId: queue.id, key, missingMs: fullMono - mono, missingAt: at })
    }
  }

  /** Writes keys. A job that took its key and lost it again within the turn, or the other way round, changes nothing. */
  #writeKeys({ idempotency, keysForgotten, uniqueHeld, uniqueFreed }: Effects): void {
    for (const { name, key, job, expiresAt, lastSeq } of idempotency) {
      const { seq, node, enqueuedAt } = job
      this.idempotencyKeys.set(keyOf(name, key), { seq, node, enqueuedAt, expiresAt, lastSeq, lapsed: false })
    }
    for (const { seq, name, own, others } of keysForgotten) {
      for (const [key, holder] of this.idempotencyKeys)
        if (holder.seq === seq && (others || key === keyOf(name, own ?? ''))) this.idempotencyKeys.delete(key)
    }
    const balance = new Map<number, number>()
    for (const { seq } of uniqueHeld) balance.set(seq, (balance.get(seq) ?? 0) + 1)
    for (const { seq } of uniqueFreed) balance.set(seq, (balance.get(seq) ?? 0) - 1)
    for (const { name, key, seq } of uniqueFreed) {
      if ((balance.get(seq) ?? 0) >= 0) continue
      balance.set(seq, 0)
      if (this.uniqueKeys.get(keyOf(name, key)) !== seq) throw broken(`job ${seq} frees the unique key ${key}, and does not hold it`)
      this.uniqueKeys.delete(keyOf(name, key))
    }
    for (const { name, key, seq } of uniqueHeld) {
      if ((balance.get(seq) ?? 0) <= 0) continue
      const holder = this.uniqueKeys.get(keyOf(name, key))
      if (holder !== undefined && holder !== seq) throw broken(`the unique key ${key} of job ${seq} is held by job ${holder}`)
      this.uniqueKeys.set(keyOf(name, key), seq)
    }
  }

  #delete({ seq, lane, extras }: PrunedJob): void {
    this.rows.delete(seq)
    this.#droppable.delete(seq)
    this.#finishedIn.delete(seq)
    this.#runs.forget(seq)
    if (extras?.uniqueKey === undefined) return
    const key = keyOf(lane.name, extras.uniqueKey)
    if (this.uniqueKeys.get(key) === seq) this.uniqueKeys.delete(key)
  }
}

/** True of a new job whose payload is that of another row. */
function isCopy({ dirty, data, payloadOf: from }: Job): boolean {
  return (dirty & DIRTY_INSERT) !== 0 && data === undefined && from > 0
}

function rowOf(job: Job, data: JobRow['data']): JobRow {
  return {
    seq: job.seq,
    node: job.node,
    laneId: job.lane.id,
    state: job.state,
    priority: job.priority,
    weight: job.weight,
    runAt: job.runAt,
    run: job.run,
    uncounted: job.uncounted,
    sessionId: job.sessionId,
    enqueuedAt: job.enqueuedAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    expiresAt: job.expiresAt,
    cancelRequested: job.cancelRequested,
    dropped: job.dropped,
    policy: job.policy.text,
    extras: job.extras,
    data,
    checkpoint: job.checkpoint,
    progress: job.progress,
    output: job.output,
    backlogId: job.parked?.id ?? 0,
  }
}

function payloadOf({ seq, data }: Job): JobRow['data'] {
  if (data === undefined) throw broken(`the payload of job ${seq} left memory before it was written`)
  return data
}

/** Compares by the order of a lane: negative if `a` runs before `b`. */
export function inLine(a: LaneCursor, b: LaneCursor): number {
  return b.priority - a.priority || a.runAt - b.runAt || a.seq - b.seq
}

function byAge(a: FailedPlace, b: FailedPlace): number {
  return a.finishedAt - b.finishedAt || a.seq - b.seq
}

function canExpire({ state, expiresAt }: JobRow): boolean {
  return expiresAt !== 0 && (state === SCHEDULED || state === WAITING || state === BLOCKED)
}

function canFire({ fireAt, paused, held }: Schedule): boolean {
  return fireAt !== 0 && !paused && !held
}

function least(times: readonly number[]): number {
  return times.length === 0 ? 0 : Math.min(...times)
}

export function keyOf(name: string, key: string): string {
  return `${name}\0${key}`
}

function broken(message: string): StoreFailure {
  return new StoreFailure('broken', 'statement', message)
}

/** Returns the number of rows of a page: at most `limit`, about `bytes` of their values, and one at least. */
function endOfPage(rows: readonly { readonly value: Data }[], limit: number, bytes: number): number {
  let taken = 0
  const end = rows.findIndex(({ value }, index) => {
    taken += dataBytes(value)
    return index > 0 && (index === limit || taken > bytes)
  })
  return end < 0 ? rows.length : end
}
