/** A connection that speaks of runs which no session of it holds: all that it says is to be refused, and to change nothing. */
import { ACTIVE, COMPLETED, type Command } from '@millrace/core'
import type { Chance } from './chance.ts'
import type { SimulatedEngine } from './engine.ts'
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
    const { joins, chance, timeline, model, requests } = this.#options
    const over = chance.hits(0.3)
    const jobs = [...model.jobs.values()].filter(({ state }) => state === (over ? COMPLETED : ACTIVE))
    if (engine.dead || jobs.length === 0) return
    const { seq, run } = chance.pick(jobs)
    const [complete, ...others] = sayings(seq, run, joins)
    const connection = engine.connect(() => {})
    requests.strangers.add(connection.name)
    connection.receive([{ id: 1, command: over ? complete : chance.pick([complete, ...others]) }], timeline.mono)
    timeline.after(STAYS_MS, () => {
      requests.dropped(connection.name)
      connection.drop()
    })
  }
}

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
