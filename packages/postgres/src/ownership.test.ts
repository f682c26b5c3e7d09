// Owners of one schema over a server that loses their connections at every step of a commit: the real code of an owner, and a model of the
// journal's key. Each canary breaks the model in one way, and must be found.
import { Effects, StoreFailure, type TurnHeader } from '@millrace/core/kernel'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import type { BridgeError } from './bridge/message.ts'
import type { Statement } from './bridge/statement.ts'
import type { Connection } from './connection.ts'
import { failureOf } from './failure.ts'
import { LowWaterMarks } from './lowWaterMarks.ts'
import { type Claim, claim } from './open/claim.ts'
import type { Lock } from './open/lock.ts'
import { Ownership } from './ownership.ts'

interface Row {
  readonly turn: number
  readonly epoch: number
  /** The time in the turn's header, which no other turn has; 0 of a claim. */
  readonly at: number
  /** The owner that wrote it. */
  readonly by: number
  /** The server's history when the schema was claimed last. */
  readonly history: number
}

/** A fault of the server that the checks must find. */
type Canary = 'none' | 'no epoch check' | 'no turn before it' | 'a claim that does not wait' | 'two turns of one number' | 'no history'

/** The outcome of a transaction: what the server does, and what the client hears. */
type Fate = 'answered' | 'cut before' | 'cut after' | 'cut within' | 'refused'

const CUT: BridgeError = { message: 'the connection broke', code: undefined, constraint: undefined }
/** Too many connections: the server cannot be asked now. */
const FULL: BridgeError = { message: 'too many clients', code: '53300', constraint: undefined }
const OTHER: BridgeError = { message: 'turn does not follow', code: 'MR001', constraint: undefined }
const TAKEN: BridgeError = { message: 'duplicate key', code: '23505', constraint: 'journal_pkey' }

const SKIPPED = 2 ** 20

class Server {
  readonly canary: Canary
  readonly #tells: boolean
  readonly #chance: () => number
  readonly journal: Row[] = [{ turn: 0, epoch: 0, at: 0, by: -1, history: 0 }]
  /** Counts the servers that have taken the place of one another. */
  #history = 0
  #skips = 0
  /** Breaks all connections. */
  onLost: () => void = () => {}
  /** Transactions whose connection broke before their commit: each commits or not, when somebody has to know. */
  #open: Row[] = []

  /** @param tells true for a server that says which one it is */
  constructor(canary: Canary, tells: boolean, chance: () => number) {
    this.canary = canary
    this.#tells = tells
    this.#chance = chance
  }

  get last(): Row {
    return this.journal.at(-1) as Row
  }

  /** Inserts a row, whose key waits for open transactions of the same number. Returns an error, or what the client hears. */
  insert(row: Row, follows: (before: Row | undefined) => boolean, fate: Fate): BridgeError | undefined {
    if (fate === 'cut before') return CUT
    if (fate === 'refused') return FULL
    this.#settle((open) => open.turn === row.turn)
    if (!follows(this.journal.find(({ turn }) => turn === row.turn - 1))) return OTHER
    if (this.canary !== 'two turns of one number' && this.journal.some(({ turn }) => turn === row.turn)) return TAKEN
    if (fate === 'cut within') {
      this.#open.push(row)
      return CUT
    }
    this.journal.push(row)
    return fate === 'cut after' ? CUT : undefined
  }

  /** All transactions end. */
  end(): void {
    this.#settle(() => true)
  }

  /** Another server takes its place, which had not heard of the last transactions. Returns these. */
  lose(count: number): readonly Row[] {
    this.#open = []
    if (this.#tells) {
      this.onLost()
      this.#history++
      return this.journal.splice(Math.max(1, this.journal.length - count))
    }
    // Nobody notices, and a lost claim is beyond what an epoch can tell: two owners have it.
    const kept = this.journal.findLastIndex(({ at }) => at === 0) + 1
    return this.journal.splice(Math.max(kept, this.journal.length - count))
  }

  /** A claim reads the last row first, and then its key waits. */
  claim(former: number | null, by: number, fate: Fate): { readonly row: Row | undefined; readonly error: BridgeError | undefined } {
    const { turn, epoch, history } = this.last
    const moved = history !== this.#history && this.canary !== 'no history'
    if (former !== null && (moved || epoch !== former)) return { row: undefined, error: undefined }
    const row = { turn: turn + 1, epoch: epoch + 1 + (moved ? SKIPPED * ++this.#skips : 0), at: 0, by, history: this.#history }
    if (this.canary === 'a claim that does not wait') {
      this.journal.push(row)
      return { row, error: undefined }
    }
    const error = this.insert(row, () => true, fate)
    return { row: error === undefined ? row : undefined, error }
  }

  #settle(which: (open: Row) => boolean): void {
    const due = this.#open.filter(which)
    this.#open = this.#open.filter((open) => !which(open))
    for (const row of due) if (this.#chance() < 0.5 && this.#mayCommit(row)) this.journal.push(row)
  }

  /** Its fence was checked when it began; its key is checked when it commits. */
  #mayCommit({ turn }: Row): boolean {
    return this.canary === 'a claim that does not wait' || !this.journal.some((row) => row.turn === turn)
  }
}

interface FakeState {
  opening: number
  broken: boolean
}

/** A connection of one owner, of which each transaction meets the fate that comes next. */
function connectTo(server: Server, by: number, fateOf: () => Fate): Connection & FakeState {
  const reads: Readonly<Record<string, (values: readonly unknown[]) => unknown[]>> = {
    'SELECT bytes': () => [0],
    'SELECT event FROM running': () => [0],
    'SELECT epoch FROM journal ORDER BY turn DESC': () => [server.last.epoch],
    'SELECT epoch FROM journal WHERE turn': ([turn]) => server.journal.filter((row) => row.turn === turn).map(({ epoch }) => epoch),
  }
  const fake = {
    backend: 1,
    opening: 1,
    broken: false,
    reopen: () => {
      fake.opening++
      fake.broken = false
    },
    pluck: (sql: string, ...values: readonly unknown[]) => Object.entries(reads).find(([start]) => sql.startsWith(start))?.[1](values),
    many: (statements: readonly Statement[]) =>
      statements.map(({ text, values }) => (fake.pluck(text, ...values) ?? []).map((value) => [value])),
    attempt: ({ values: [, former] }: Statement) => {
      if (fake.broken) return { rows: [], error: CUT }
      const { row, error } = server.claim(former as number | null, by, fateOf())
      return { rows: [row === undefined ? [] : [[row.turn, row.epoch, 1]]], error }
    },
    transact: ([fence]: readonly Statement[]) => {
      if (fake.broken) throw failureOf(CUT)
      const [turn, epoch, at] = (fence as Statement).values as [number, number, number]
      const follows = (before: Row | undefined) =>
        before === undefined ? server.canary === 'no turn before it' : server.canary === 'no epoch check' || before.epoch === epoch
      const { history } = server.last
      const error = server.insert({ turn, epoch, at, by, history }, follows, fateOf())
      if (error !== undefined) throw failureOf(error)
    },
  }
  return fake as unknown as Connection & FakeState
}

type Step = readonly ['open' | 'take' | 'beat' | 'reconnect' | 'lose', owner: number, fate: Fate, next: Fate]
const fate = fc.constantFrom<Fate>('answered', 'answered', 'answered', 'cut before', 'cut after', 'cut within', 'refused')
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('open', 'open', 'take', 'take', 'take', 'take', 'take', 'take', 'beat', 'reconnect', 'lose'),
  fc.nat({ max: 5 }),
  fate,
  fate,
)

/** Lets owners take turns, and returns what is wrong. */
function broken(canary: Canary, [steps, chances, tells]: World): string[] {
  let drawn = 0
  /** The outcomes of the next transactions, whichever owner sends them. */
  let fates: Fate[] = []
  const server = new Server(canary, tells, () => chances[drawn++ % chances.length] ?? 0)
  const owners: { readonly ownership: Ownership; readonly connection: FakeState }[] = []
  let opened = 0
  server.onLost = () => {
    for (const { connection } of owners) connection.broken = true
  }
  let acknowledged: number[] = []
  const denied: number[] = []
  let at = 0
  for (const [what, number, first, then] of steps) {
    fates = [first, then]
    if (what === 'open') {
      const lock = { keep: () => {} } as Lock
      const connection = connectTo(server, opened++, () => fates.shift() ?? 'answered')
      const made = attempt((): Claim => claim(connection, 0, 1))
      if (!(made instanceof StoreFailure))
        owners.push({ ownership: new Ownership(connection, lock, made, new LowWaterMarks()), connection })
      continue
    }
    if (what === 'lose') {
      const lost = server.lose(number).map((row) => row.at)
      acknowledged = acknowledged.filter((one) => !lost.includes(one))
      continue
    }
    const owner = owners[number % Math.max(1, owners.length)]
    if (owner === undefined) continue
    if (what === 'beat') attempt(() => owner.ownership.beat())
    // A read has found its connection broken.
    else if (what === 'reconnect') (owner.connection as unknown as Connection).reopen()
    else {
      const header = { at: ++at, mono: 0, nextSeq: 1, nextEvent: 1, nextSession: 1, running: () => [] } satisfies TurnHeader
      const taken = attempt(() => owner.ownership.take(new Effects(), header))
      if (taken === true) acknowledged.push(at)
      // Before its commit, of whatever reason, means that it never was, and may be tried again.
      else if (taken === false || (taken instanceof StoreFailure && taken.phase === 'before')) denied.push(at)
    }
  }
  server.end()
  return wrongIn(server.journal, acknowledged, denied)
}

function attempt<Value>(work: () => Value): Value | StoreFailure {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    return error
  }
}

function wrongIn(journal: readonly Row[], acknowledged: readonly number[], denied: readonly number[]): string[] {
  const turns = journal.map(({ turn }) => turn)
  const epochs = journal.toSorted((one, other) => one.turn - other.turn).map(({ epoch }) => epoch)
  const times = journal.map(({ at }) => at)
  return [
    ...(new Set(turns).size < turns.length ? ['two transactions are the same turn'] : []),
    ...(turns.some((turn, index) => turn !== index) ? ['turns do not follow one another'] : []),
    ...(epochs.some((epoch, index) => index > 0 && epoch < (epochs[index - 1] as number)) ? ['a former owner has written'] : []),
    ...(journal.some(({ epoch, by }) => journal.some((other) => other.epoch === epoch && other.by !== by))
      ? ['an epoch has two owners']
      : []),
    ...acknowledged
      .filter((at) => times.filter((time) => time === at).length !== 1)
      .map((at) => `turn ${at} was acknowledged, and is not there once`),
    ...denied.filter((at) => times.includes(at)).map((at) => `turn ${at} was said to be lost, and is there`),
  ]
}

type World = readonly [steps: readonly Step[], chances: readonly number[], tells: boolean]
const worlds: fc.Arbitrary<World> = fc.tuple(
  fc.array(step, { minLength: 2, maxLength: 40 }),
  fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 8 }),
  fc.boolean(),
)

test('two owners never write the same turn; what is acknowledged is there, and what is said to be lost is not', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      expect(broken('none', world)).toEqual([])
    }),
    { numRuns: runs(4_000) },
  )
})

test.for<Canary>(['no epoch check', 'no turn before it', 'a claim that does not wait', 'two turns of one number', 'no history'])(
  'the planted fault is found: %s',
  (canary) => {
    const found = fc.check(
      fc.property(worlds, (world) => broken(canary, world).length === 0),
      { numRuns: 50_000, seed: 1 },
    )
    expect(found.failed).toBe(true)
  },
)
