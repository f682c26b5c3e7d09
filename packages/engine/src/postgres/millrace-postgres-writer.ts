/** The writer thread of a schema of Postgres. */
import { openStore, SCHEMA_VERSION } from '@millrace/postgres'
import { systemClock, systemRandom } from '../clock.ts'
import { runWriter } from '../writer/runWriter.ts'
import type { SchemaOptions } from './options.ts'

runWriter({
  schema: SCHEMA_VERSION,
  open: (options: SchemaOptions) => openStore({ ...options, random: systemRandom, now: systemClock.read().wall }),
})
