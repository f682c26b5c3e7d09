// What is forgotten at intervals, and not in the turns between.
import { DEFAULT_RETENTION, LIMITS } from '@millrace/core'
import { Effects, type Facts, type Tables, type TurnStore } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { Housekeeping } from './housekeeping.ts'

const WALL = 1_000 * 86_400_000
const TABLES = { nextEvent: 1, exports: new Map(), lanesById: new Map(), definitions: new Map() } as unknown as Tables
const STORE = {
  keyExpiry: () => 0,
  journal: () => ({ firstEvent: 0, firstTurnEnd: 0, lastEvent: 0, bytes: 0 }),
} as unknown as TurnStore

test('sessions that are gone, sources and kinds of failures are forgotten once in each interval', () => {
  const upkeep = new Housekeeping(DEFAULT_RETENTION, { wall: WALL, mono: 0 })
  const forgotten = [0, LIMITS.journalEveryMs - 1, LIMITS.journalEveryMs, LIMITS.journalEveryMs + 1, 2 * LIMITS.journalEveryMs].map(
    (mono) => {
      const effects = new Effects()
      upkeep.note({ prunable: [] } as unknown as Facts, effects, STORE, TABLES, { wall: WALL, mono })
      return [effects.forgetSessions, effects.forgetSourcesBefore, effects.forgetFailuresBefore]
    },
  )
  const none = [false, 0, 0]
  const all = [true, WALL - LIMITS.sourcesKeptMs, WALL - LIMITS.failuresMs]
  expect(forgotten).toEqual([none, none, all, none, all])
})
