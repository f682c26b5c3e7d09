/**
 * Somebody deletes the database file or its log, moves it away, or puts another in its place, under the running engine. What is written from
 * then on goes nowhere: the engine must notice, say so, and save what it has acknowledged. Then it is killed.
 */
import { renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { formatId } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { indexFile, savedCopies, walFile } from '../../../../packages/sqlite/src/companionFiles.ts'
import { auditFile } from '../../../../packages/sqlite/src/testing/inspect.ts'
import { Child } from '../child.ts'
import type { LoadSettings } from '../programs/load.ts'
import { type Scenario, Tally } from '../scenario.ts'

const LOAD = new URL('../programs/load.ts', import.meta.url)
/** Lines that the engine may go on with before it notices: well over a second of them. */
const PATIENCE_LINES = 20_000

const remove = (...files: readonly string[]): void => files.forEach((file) => void rmSync(file, { force: true }))

const HARMS: Readonly<Record<string, (file: string, folder: string) => Promise<void>>> = {
  'the log is deleted': async (file) => remove(walFile(file)),
  'the log and its index are deleted': async (file) => remove(walFile(file), indexFile(file)),
  'the file is deleted, with its log': async (file) => remove(file, walFile(file), indexFile(file)),
  'the file is moved away': async (file, folder) => renameSync(file, join(folder, 'moved.db')),
  'the file is replaced': async (file, folder) => {
    const other = join(folder, 'other.db')
    await (await openEngine({ file: other })).stop()
    renameSync(other, file)
  },
}

function lostFile(harm: string): Scenario {
  return async ({ folder }) => {
    const tally = new Tally()
    const settings: LoadSettings = { file: join(folder, 'jobs.db'), effects: join(folder, 'none'), producers: 8 }
    await using owner = new Child(LOAD, [JSON.stringify(settings)])
    await owner.said(/^completed/)
    await owner.saidLines(200)
    await HARMS[harm]?.(settings.file, folder)
    const from = owner.lines.length
    await Promise.race([owner.said(/^refused/, from).catch(() => {}), owner.saidLines(from + PATIENCE_LINES).catch(() => {})])
    const refusal = owner.lines.slice(from).find((line) => line.startsWith('refused'))
    await owner.kill()
    const acknowledged = owner.linesOf('enqueued')
    const there = await idsIn(settings.file)
    tally.cycles++
    tally.kills++
    tally.acknowledged = acknowledged.length
    tally.lost = acknowledged.filter((id) => !there.has(id)).length
    tally.facts.push(`${harm}: ${refusal ?? 'never refused'}; ${savedCopies(settings.file).length} copies`)
    tally.expect(refusal !== undefined, '1', `${harm}, and jobs were acknowledged without a word`)
    tally.expect(!refusal?.includes('!'), 'typed errors', String(refusal))
    return tally
  }
}

/** The jobs that somebody finds who opens the file now, or a copy that the engine has made of it. */
async function idsIn(file: string): Promise<ReadonlySet<string>> {
  const copies = savedCopies(file).map((name) => join(dirname(file), name))
  const ids = new Set<string>()
  for (const path of [file, ...copies]) {
    try {
      await (await openEngine({ file: path })).stop()
    } catch {
      // As where the log of one file lies beside another: nothing of it is to be had.
      continue
    }
    for (const key of auditFile(path).jobs) ids.add(formatId(key))
  }
  return ids
}

/** By what is done to the file. */
export const lostFiles = Object.fromEntries(Object.keys(HARMS).map((harm) => [harm, lostFile(harm)]))
