/** Turns as the actor takes them, over any store and without threads. */
import type { Command, Retention } from '@millrace/core'
import { type Effects, type Envelope, loadTables, type Store, type Tables, takeTurn } from '@millrace/core/kernel'
import { systemCalendar } from '@millrace/engine/internal'

export const JOBS = 200
const NOW = { wall: 1_795_000_000_000, mono: 1_000 }

export interface Turns {
  readonly tables: Tables
  take(commands: readonly Command[]): Effects
}

/** A worker for `JOBS` jobs at once is there already. */
export function makeTurns(openStore: (now: number) => Store, retention: Retention): Turns {
  const store = openStore(NOW.wall)
  const tables = loadTables(store, new Set(), NOW)
  const settings = { recovery: 'immediate', retention, calendar: systemCalendar } as const
  const parts = { store, clock: { read: () => NOW }, random: () => 0.5, settings, upkeep: { pruning: () => undefined, note: () => {} } }
  const take = (commands: readonly Command[]): Effects => {
    const mail = commands.map((command, id): Envelope => ({ connection: 1, request: { id, command } }))
    const { effects } = takeTurn(parts, { tables, mail, now: NOW, heardMono: NOW.mono, refusing: undefined })
    for (const granted of effects.grants) granted.data = undefined
    return effects
  }
  take([attaching()])
  return { tables, take }
}

function attaching(): Command {
  return {
    op: 'attach',
    session: {
      uuid: 'bench',
      worker: 'bench',
      host: 'here',
      pid: 1,
      local: true,
      handlers: [{ name: 'noop', defaults: {} }],
      minConcurrency: JOBS,
      maxConcurrency: JOBS,
      abortGrace: 30_000,
    },
    held: [],
  }
}
