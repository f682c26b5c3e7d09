/** The real engine on this thread over the real store, asked command by command; every answer goes into the ledger as it is given. */
import { systemCalendar } from '@millrace/client/calendar'
import type {
  Clock,
  CommandOf,
  Delivery,
  Enqueued,
  Grant,
  JobKey,
  NewJob,
  Operation,
  Port,
  Refusal,
  Reply,
  Retention,
  RunKey,
} from '@millrace/core'
import { type Store, StoreFailure } from '@millrace/core/kernel'
import { InThreadEngine } from '@millrace/engine/internal'
import { quiet, seededRandom, sessionIntro } from '@millrace/testkit/internal'
import type { Call, Effect, Fate } from './ledger.ts'
import { markerOf, payload } from './payload.ts'
import type { Mark } from './trace.ts'

/** How long finished jobs are kept: shorter than a run, so that some are deleted. */
export const KEPT_MS = 20_000
const KEEP = { ageMs: KEPT_MS, count: 1_000 }
export const RETENTION: Retention = { completed: KEEP, failed: KEEP, cancelled: KEEP, journal: { ageMs: 40_000, bytes: 6_000 } }

const NAMES = ['resize', 'mail', 'report'] as const

export interface DriverOptions {
  readonly store: Store
  readonly clock: Clock
  readonly mark: (mark: Mark) => void
  /** After every turn that was written, with how many there were. */
  readonly written?: (commits: number) => void
  /** Where an earlier engine of the same file left off. */
  readonly before?: Driver
}

export interface Held extends RunKey {
  readonly marker: number
}

interface Sent {
  readonly command: CommandOf<Operation>
  /** What becomes of its jobs where it succeeds. */
  readonly effects: readonly Effect[]
}

export class Driver {
  /** Handed out and not settled. */
  held: Held[] = []
  readonly keys: Map<number, JobKey>
  /** What each job was last known to be. */
  readonly fates: Map<number, Fate>
  /** Of running jobs whose cancel was answered, or is in doubt. */
  readonly #cancelling = new Map<number, 'certain' | 'doubtful'>()
  commits: number
  nextMarker: number
  /** Why the engine has ended by itself. */
  ended: Refusal | undefined
  reattach = true
  readonly #options: DriverOptions
  readonly #engine: InThreadEngine
  readonly #port: Port
  readonly #sent = new Map<number, Sent>()
  #nextId = 1
  #turn: number

  constructor(options: DriverOptions) {
    const { store, clock, before } = options
    this.#options = options
    this.keys = before?.keys ?? new Map()
    this.fates = before?.fates ?? new Map()
    this.commits = before?.commits ?? 0
    this.nextMarker = before?.nextMarker ?? 1
    this.#turn = before?.turns ?? 0
    this.#nextId = before?.nextId ?? 1
    const settings = { recovery: 'immediate', retention: RETENTION, calendar: systemCalendar } as const
    this.#engine = new InThreadEngine({ store: this.#watched(store), clock, random: seededRandom(7), settings })
    this.#port = this.#engine.port({ owner: true })
    this.#port.listen({
      deliver: (delivery) => this.#take(delivery),
      broken: () => {},
      lapsed: () => {},
      reopened: () => {},
      ended: (refusal) => this.#end(refusal),
    })
  }

  get turns(): number {
    return this.#turn
  }

  get nextId(): number {
    return this.#nextId
  }

  /** Sends all in one post, and lets everything that this sets off run. */
  async post(commands: readonly Sent[]): Promise<void> {
    if (this.ended !== undefined) return
    const requests = commands.map((sent) => ({ id: this.#nextId++, command: sent.command }))
    for (const [index, { id, command }] of requests.entries()) {
      const sent = commands[index] as Sent
      this.#sent.set(id, sent)
      this.#options.mark({ sent: id, op: command.op, effects: sent.effects })
    }
    this.#port.send(requests)
    await quiet()
  }

  async attach(): Promise<void> {
    this.reattach = false
    const session = sessionIntro(NAMES, { minConcurrency: 12, maxConcurrency: 12 })
    await this.post([{ command: { op: 'attach', session, held: this.held.map(({ seq, run }) => ({ seq, run })) }, effects: [] }])
  }

  enqueue(jobs: readonly { readonly bytes: number; readonly job: Partial<NewJob> }[]): Sent {
    const marked = jobs.map(({ bytes, job }) => ({ marker: this.nextMarker++, bytes, job }))
    return {
      command: {
        op: 'enqueue',
        jobs: marked.map(({ marker, bytes, job }) => ({
          name: NAMES[marker % NAMES.length] as string,
          data: payload(marker, bytes),
          maxAttempts: 1_000,
          timeout: Number.POSITIVE_INFINITY,
          ...job,
        })),
      },
      effects: marked.map(({ marker, job }) => ({
        marker,
        fates: ['live'],
        ...((job.idempotencyKey ?? job.unique) !== undefined && { keyed: true }),
      })),
    }
  }

  /** The end of a run that is held, which it then is no more. */
  settle(held: Held, command: CommandOf<Operation>, fate: Fate, output?: string): Sent {
    this.held = this.held.filter((one) => one !== held)
    const cancelling = this.#cancelling.get(held.marker)
    const fates: Fate[] = cancelling === undefined ? [fate] : cancelling === 'certain' ? ['cancelled'] : ['cancelled', fate]
    return { command, effects: [{ marker: held.marker, fates, run: held.run, ...(output !== undefined && { output }) }] }
  }

  /** About a job from outside. */
  manage(marker: number, op: 'cancel' | 'delete' | 'retry'): Sent {
    const id = this.keys.get(marker) as JobKey
    const fates: Fate[] = op === 'cancel' ? ['live', 'cancelled'] : op === 'delete' ? ['gone'] : ['live']
    return { command: { op, id }, effects: [{ marker, fates }] }
  }

  /** Closes engine and store. What is unanswered stays so. */
  async close(): Promise<void> {
    await quiet()
    this.#engine.close()
    this.#unanswered('CLOSED')
  }

  #watched(store: Store): Store {
    const write: Store['write'] = (effects, turn) => {
      const { mark, written, clock } = this.#options
      mark({ begin: this.commits + 1, at: clock.read().wall })
      try {
        store.write(effects, turn)
      } catch (error) {
        const failure = error instanceof StoreFailure ? `${error.phase} ${error.reason}` : String(error)
        mark({ end: this.commits + 1, failure, waiting: this.#sent.size })
        throw error
      }
      this.commits++
      mark({ end: this.commits, waiting: this.#sent.size })
      written?.(this.commits)
    }
    return new Proxy(store, { get: (target, property) => (property === 'write' ? write : Reflect.get(target, property)) })
  }

  /** Within the turn, straight after its commit. */
  #take({ replies, grants, notices }: Delivery): void {
    this.#turn++
    this.#options.mark({ acknowledged: this.commits })
    for (const reply of replies) this.#answered(reply)
    for (const grant of grants) this.#granted(grant)
    for (const notice of notices) {
      if (notice.kind === 'reattach') this.reattach = true
      if (notice.kind === 'lost') this.held = this.held.filter(({ seq, run }) => seq !== notice.seq || run !== notice.run)
    }
  }

  #answered({ id, value, refusal }: Reply): void {
    const sent = this.#sent.get(id)
    if (sent === undefined) throw new Error(`request ${id} was answered twice, or never sent`)
    this.#sent.delete(id)
    const outcome = refusal === undefined ? 'ok' : refusal.code === 'COMMIT_UNKNOWN' ? 'unknown' : 'refused'
    const { op } = sent.command
    let { effects } = sent
    if (op === 'enqueue' && outcome === 'ok') effects = this.#created(effects, value as readonly Enqueued[])
    if (op === 'cancel' && outcome !== 'refused') effects = this.#cancelled(effects, value)
    if (op === 'attach' && outcome === 'ok') this.#lost((value as { lost: readonly RunKey[] }).lost)
    if (outcome === 'ok') for (const { marker, fates } of effects) this.fates.set(marker, fates[0] as Fate)
    this.#note(id, op, outcome, effects, refusal?.code)
  }

  /** Those that a key matched with an earlier job are not there. */
  #created(effects: readonly Effect[], replies: readonly Enqueued[]): Effect[] {
    return effects.filter(({ marker }, index) => {
      const { created, ...key } = replies[index] as Enqueued
      if (created) this.keys.set(marker, key)
      return created
    })
  }

  #cancelled(effects: readonly Effect[], value: unknown): readonly Effect[] {
    if (value === 'cancelled') return effects.map((effect) => ({ ...effect, fates: ['cancelled'] }))
    // It runs, or it is in doubt whether the engine knows that it is to stop.
    for (const { marker } of effects)
      if (value !== undefined || !this.#cancelling.has(marker)) this.#cancelling.set(marker, value === undefined ? 'doubtful' : 'certain')
    return effects
  }

  #lost(lost: readonly RunKey[]): void {
    this.held = this.held.filter(({ seq, run }) => !lost.some((one) => one.seq === seq && one.run === run))
  }

  #granted({ seq, run, node, data }: Grant): void {
    const marker = markerOf(data)
    this.#cancelling.delete(marker)
    this.held.push({ seq, run, marker })
    this.fates.set(marker, 'live')
    const known = this.keys.get(marker)
    if (known !== undefined && (known.seq !== seq || known.node !== node)) throw new Error(`job ${marker} was handed out under another id`)
    this.#note(0, 'grant', 'ok', [{ marker, fates: ['live'], run }])
  }

  #end(refusal: Refusal): void {
    this.ended = refusal
    this.#unanswered('ENDED')
  }

  #unanswered(code: string): void {
    for (const [id, { command, effects }] of this.#sent) this.#note(id, command.op, 'unknown', effects, code)
    this.#sent.clear()
  }

  #note(answered: number, op: string, outcome: Call['outcome'], effects: readonly Effect[], code?: string): void {
    const { wall } = this.#options.clock.read()
    const call = { op, outcome, ...(code !== undefined && { code }), commit: this.commits, turn: this.#turn, at: wall, effects }
    this.#options.mark({ answered, call })
  }
}
