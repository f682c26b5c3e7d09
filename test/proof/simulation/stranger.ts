/**
 * A connection that speaks of runs which no session of it holds, or of sessions that it has heard of: it knows every number that a reader
 * may know. All that it says is to be refused, or to change nothing.
 */
import { ACTIVE, COMPLETED, type Command } from '@millrace/core'
import type { Chance } from './chance.ts'
import type { SimulatedEngine } from './engine.ts'
import { LATE } from './handlers.ts'
import type { Model } from './model.ts'
import type { Requests } from './requests.ts'
import type { Timeline } from './timeline.ts'

interface StrangerOptions {
  readonly joins: boolean
  readonly chance: Chance
  readonly timeline: Timeline
  readonly model: Model
  readonly requests: Requests
}

const STAYS_MS = 2_000

export class Stranger {
  readonly #options: StrangerOptions

  constructor(options: StrangerOptions) {
    this.#options = options
  }

  /** Names a run that goes on, or one that has completed: whoever counts may guess both. */
  act(engine: SimulatedEngine): void {
    const { joins, chance, model } = this.#options
    if (chance.hits(0.3)) {
      this.#claim(engine)
      return
    }
    const over = chance.hits(0.3)
    const jobs = [...model.jobs.values()].filter(({ state }) => state === (over ? COMPLETED : ACTIVE))
    if (engine.dead || jobs.length === 0) return
    const { seq, run } = chance.pick(jobs)
    const [complete, ...others] = sayings(seq, run, joins)
    this.#say(engine, [over ? complete : chance.pick([complete, ...others])])
  }

  /** Names itself as a session that it has heard of, claims all runs that go on, and leaves. */
  #claim(engine: SimulatedEngine): void {
    const { chance, model, requests } = this.#options
    const told = [...model.systemEvents.toldSessions]
    const active = [...model.jobs.values()].filter(({ state }) => state === ACTIVE)
    if (engine.dead || told.length === 0) return
    const session = chance.pick(told)
    const handlers = [...new Set([LATE.name, ...active.map(({ name }) => name)])].map((name) => ({ name, defaults: FORGED }))
    const held = active.map(({ seq, run }) => ({ seq, run })).sort((one, other) => one.seq - other.seq)
    // Its own session has a number for its name, and may go.
    if (Number.isSafeInteger(Number(session))) requests.left(session)
    this.#say(engine, [
      { op: 'attach', session: { ...INTRO, uuid: session, handlers }, held },
      { op: 'adjust', session, minConcurrency: 1, maxConcurrency: 1, paused: true },
      { op: 'drain', session },
      { op: 'leave', session },
    ])
  }

  #say(engine: SimulatedEngine, commands: readonly Command[]): void {
    const { timeline, requests } = this.#options
    const connection = engine.connect(() => {})
    requests.strangers.add(connection.name)
    connection.receive(
      commands.map((command, index) => ({ id: index + 1, command })),
      timeline.mono,
    )
    timeline.after(STAYS_MS, () => {
      requests.dropped(connection.name)
      connection.drop()
    })
  }
}

/** No worker states these: they never come into force. */
export const FORGED = { maxAttempts: 1, timeout: 1 } as const

/** It takes no jobs, and has no say in what others are given. */
const INTRO = {
  worker: 'stranger',
  host: 'host',
  pid: 1,
  local: false,
  minConcurrency: 1,
  maxConcurrency: 1,
  abortGrace: 1_000,
  paused: true,
  defines: false,
} as const

function sayings(seq: number, run: number, joins: boolean): readonly [Command, ...Command[]] {
  return [
    { op: 'complete', seq, run, output: '"forged"' },
    { op: 'fail', seq, run, error: { name: 'Forged', message: 'no worker has said so' }, retry: false },
    { op: 'snooze', seq, run, delay: 60_000 },
    { op: 'giveBack', seq, run, started: true },
    { op: 'heartbeat', seq, run },
    { op: 'checkpoint', seq, run, value: '"forged"' },
    { op: 'progress', seq, run, fraction: 1 },
    { op: 'log', seq, run, lines: [{ at: 0, level: 'info', message: 'forged' }] },
    { op: 'parents', seq, run },
    ...(joins ? [{ op: 'join', seq, run, name: 'forged', jobs: [{ name: 'a', data: '"forged"' }] } as const] : []),
  ]
}
