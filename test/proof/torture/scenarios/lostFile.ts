/**
 * Somebody deletes the database file, moves it away, or puts another in its place, under the running engine. What is acknowledged from
 * then on goes nowhere: the engine must notice, and say so.
 */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { formatId } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { auditFile } from '../../../../packages/sqlite/src/testing/inspect.ts'
import { Child } from '../child.ts'
import type { LoadSettings } from '../programs/load.ts'
import { type Scenario, Tally } from '../scenario.ts'

const LOAD = new URL('../programs/load.ts', import.meta.url)
/** Lines that the engine may go on with before it notices: well over a second of them. */
const PATIENCE_LINES = 20_000

const HARMS: Readonly<Record<string, (file: string, folder: string) => Promise<void>>> = {
  async deleted(file) {
    for (const part of [file, `${file}-wal`, `${file}-shm`]) rmSync(part, { force: true })
  },
  async moved(file, folder) {
    renameSync(file, join(folder, 'moved.db'))
  },
  async replaced(file, folder) {
    const other = join(folder, 'other.db')
    await (await openEngine({ file: other })).stop()
    renameSync(other, file)
  },
}

function harmed(harm: string): Scenario {
  return async ({ folder }) => {
    const tally = new Tally()
    const settings: LoadSettings = { file: join(folder, 'jobs.db'), effects: join(folder, 'none'), producers: 8 }
    await using owner = new Child(LOAD, [JSON.stringify(settings)])
    await owner.said(/^completed/)
    await owner.saidLines(200)
    await HARMS[harm]?.(settings.file, folder)
    const from = owner.lines.length
    await Promise.race([owner.said(/^refused/, from).catch(() => {}), owner.saidLines(from + PATIENCE_LINES).catch(() => {})])
    const after = owner.lines.slice(from)
    await owner.kill()
    const refusal = after.find((line) => line.startsWith('refused'))
    const acknowledged = after.filter((line) => line.startsWith('enqueued ')).map((line) => line.slice(9))
    const lost = await missing(settings.file, acknowledged)
    tally.cycles++
    tally.kills++
    tally.acknowledged = owner.linesOf('enqueued').length
    tally.facts.push(`${harm}: ${refusal ?? 'never refused'}; of ${acknowledged.length} acknowledged afterwards ${lost} are not there`)
    if (refusal === undefined) {
      tally.lost = lost
      tally.violations.push(`1: the file was ${harm}, and ${acknowledged.length} jobs were acknowledged without a word; ${lost} are lost`)
    } else tally.expect(!refusal.includes('!'), 'typed errors', refusal)
    return tally
  }
}

/** How many are not in what somebody finds who opens the path now. */
async function missing(file: string, ids: readonly string[]): Promise<number> {
  try {
    await (await openEngine({ file })).stop()
  } catch {
    // As where the log of one file lies beside another: nothing of it is to be had.
    return ids.length
  }
  const there = new Set(auditFile(file).jobs.map(formatId))
  return ids.filter((id) => !there.has(id)).length
}

export const deletedFile = harmed('deleted')
export const movedFile = harmed('moved')
export const replacedFile = harmed('replaced')
