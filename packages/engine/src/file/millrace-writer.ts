/** The writer thread of a SQLite file. */
import { hostname } from 'node:os'
import { openStore, SCHEMA_VERSION } from '@millrace/sqlite'
import { systemClock, systemRandom } from '../clock.ts'
import { runWriter } from '../writer/runWriter.ts'
import type { FileOptions } from './options.ts'

runWriter({
  schema: SCHEMA_VERSION,
  open: ({ waitForOwnerMs, ...options }: FileOptions, warn) =>
    openStore({
      ...options,
      warn,
      waitMs: waitForOwnerMs,
      random: systemRandom,
      now: systemClock.read().wall,
      host: hostname(),
      pid: process.pid,
    }),
})
