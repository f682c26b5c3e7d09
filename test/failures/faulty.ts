/** The real engine on this thread, over a real file, with a store between them that fails when a test says so. */
import type { Logger } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { type FaultyStore, faultyStore, Probe, quiet, rebuilt, tableFacts } from '@millrace/testkit/internal'
import { expect, onTestFinished } from 'vitest'
import { temporaryFile } from '../temporary.ts'

export function startFaulty(logger?: Logger) {
  let store: FaultyStore | undefined
  const t = createTestEngine({
    file: temporaryFile(),
    ...(logger && { logger }),
    wrapStore: (real) => {
      store = faultyStore(real)
      return store
    },
  })
  const { faults } = store as FaultyStore
  onTestFinished(() => {
    faults.heal()
    return t[Symbol.asyncDispose]()
  })
  return {
    ...t,
    faults,
    store: store as FaultyStore,
    /** A second way in, command by command. */
    probe: new Probe(t.inThread.port()),
    /** Invariant 18, once all that is under way has been decided. */
    async expectTablesAsStored() {
      await quiet()
      expect(tableFacts(t.inThread.actor.tables)).toEqual(rebuilt(store as FaultyStore))
    },
  }
}
