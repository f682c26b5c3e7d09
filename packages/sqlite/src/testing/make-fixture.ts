/**
 * Writes the fixture of the current schema: `node packages/sqlite/src/testing/make-fixture.ts`. Run it once per schema version,
 * at its release. A fixture is never written again, or it would no longer be what that version wrote.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SCHEMA_VERSION } from '../migrations/list.ts'
import { openStore } from '../open-store.ts'
import { addBystanders } from './bystanders.ts'
import { Turns } from './jobs.ts'

const target = fileURLToPath(new URL(`../../fixtures/v${SCHEMA_VERSION}.db`, import.meta.url))
if (existsSync(target)) throw new Error(`${target} exists: it stays as it is`)
const folder = mkdtempSync(join(tmpdir(), 'millrace-fixture-'))
const store = openStore({ file: join(folder, 'jobs.db'), durability: 'full', random: () => 0.5, now: 1, host: 'fixture', pid: 1 })
addBystanders(new Turns(store))
await store.care.backup(target)
store.close()
rmSync(folder, { recursive: true })
