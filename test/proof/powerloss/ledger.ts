/** What was asked, what was answered, and so what a file must hold afterwards: judged by the answers alone, not by how the engine works. */

/** What can become of a job, as a row shows it: `gone` is no row, `live` any state before the final ones. */
export type Fate = 'gone' | 'live' | 'completed' | 'failed' | 'cancelled'

/** One job's part in a call. */
export interface Effect {
  /** Who it is: every job carries its number in its data. */
  readonly marker: number
  /** What it may be after the call. */
  readonly fates: readonly Fate[]
  /** It was handed out this often, at least. */
  readonly run?: number
  readonly output?: string
  /** A key may have matched it with an earlier job: then it is not there, and that is as it should be. */
  readonly keyed?: boolean
}

export interface Call {
  readonly op: string
  /** `unknown` also where no answer came at all. */
  readonly outcome: 'ok' | 'refused' | 'unknown'
  readonly code?: string
  /** How many turns had been written when it was answered. */
  readonly commit: number
  /** Answered together. */
  readonly turn: number
  /** By the engine's clock. */
  readonly at: number
  readonly effects: readonly Effect[]
}

/** A job as a file shows it. */
export interface Found {
  readonly marker: number
  readonly fate: Fate
  readonly run: number
  readonly output: string | null
  /** Whether its data is byte for byte what was enqueued. */
  readonly whole: boolean
}

interface Expected {
  fates: Set<Fate>
  run: number
  output: string | undefined
  endedAt: number
  /** The last call that touched it. */
  last: Call
}

export interface Judging {
  /** Only calls answered after so many turns or fewer count. */
  readonly commit?: number
  /** Finished jobs are deleted after so long ... */
  readonly keptMs: number
  /** ... by this time. */
  readonly now: number
}

/** Everything about the jobs of a file that the answers do not allow; empty where all is as answered. */
export function judge(
  calls: readonly Call[],
  found: readonly Found[],
  { commit = Number.POSITIVE_INFINITY, keptMs, now }: Judging,
): string[] {
  const counted = calls.filter((call) => call.commit <= commit)
  const expected = expectations(counted)
  const rows = new Map(found.map((job) => [job.marker, job]))
  const problems: string[] = []
  if (rows.size !== found.length) problems.push('a job is there twice')
  for (const [marker, { fates, run, output, endedAt }] of expected) {
    const row = rows.get(marker)
    const fate = row?.fate ?? 'gone'
    const pruned = fate === 'gone' && endedAt >= 0 && now - endedAt >= keptMs
    if (!fates.has(fate) && !pruned) problems.push(`job ${marker} is ${fate}, and was answered to be ${[...fates].join(' or ')}`)
    if (row === undefined) continue
    if (!row.whole) problems.push(`job ${marker} has other data than it was given`)
    if (row.run < run) problems.push(`job ${marker} is at run ${row.run}, and was handed out as ${run}`)
    if (fate === 'completed' && fates.size === 1 && row.output !== output) problems.push(`job ${marker} has another output than its own`)
  }
  for (const { marker } of found)
    if (!expected.has(marker)) problems.push(`job ${marker} is there, and nothing that was not refused enqueued it`)
  return [...problems, ...halves(counted, expected, rows)]
}

function expectations(calls: readonly Call[]): Map<number, Expected> {
  const expected = new Map<number, Expected>()
  for (const call of calls) {
    if (call.outcome === 'refused') continue
    for (const { marker, fates, run = 0, output } of call.effects) {
      const known = expected.get(marker) ?? { fates: new Set<Fate>(['gone']), run: 0, output: undefined, endedAt: -1, last: call }
      const after = call.outcome === 'ok' ? fates : [...known.fates, ...fates]
      const ended = after.some((fate) => fate !== 'gone' && fate !== 'live')
      expected.set(marker, {
        fates: new Set(after),
        run: call.outcome === 'ok' ? Math.max(known.run, run) : known.run,
        output: output ?? known.output,
        endedAt: endOf(call, ended, known.endedAt),
        last: call,
      })
    }
  }
  return expected
}

/** The earliest end that it may have had. */
function endOf({ outcome, at }: Call, ended: boolean, before: number): number {
  if (!ended) return -1
  return outcome === 'unknown' && before >= 0 ? before : at
}

/** Calls of one turn whose commit was in doubt: all of them happened, or none. */
function halves(calls: readonly Call[], expected: ReadonlyMap<number, Expected>, rows: ReadonlyMap<number, Found>): string[] {
  const turns = new Map<number, { happened: Set<number>; not: Set<number> }>()
  for (const call of calls) {
    if (call.code !== 'COMMIT_UNKNOWN') continue
    const turn = turns.get(call.turn) ?? { happened: new Set(), not: new Set() }
    turns.set(call.turn, turn)
    for (const { marker, fates, keyed = false } of call.effects) {
      const job = expected.get(marker)
      // What somebody did to the job since hides what became of this call.
      if (job === undefined || job.last !== call || call.op !== 'enqueue' || keyed) continue
      const there = fates.includes(rows.get(marker)?.fate ?? 'gone')
      if (there) turn.happened.add(marker)
      else turn.not.add(marker)
    }
  }
  return [...turns.values()]
    .filter(({ happened, not }) => happened.size > 0 && not.size > 0)
    .map(({ happened, not }) => `of one turn in doubt ${happened.size} jobs are there and ${not.size} are not`)
}
