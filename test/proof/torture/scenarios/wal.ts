/** 31: another program reads an old state of the file for the whole of a run at full write rate. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { LIMITS } from '@millrace/core'
import { Child } from '../child.ts'
import type { LoadSettings } from '../programs/load.ts'
import { type Scenario, Tally } from '../scenario.ts'
import { Witness } from '../witness.ts'

const program = (name: string) => new URL(`../programs/${name}.ts`, import.meta.url)
const MIB = 2 ** 20
/** A gigabyte takes a while to write: the slice has its program loaded with a lower cap. */
const SLICE_CAP_BYTES = 128 * MIB
/** The log is looked at once a second, and what runs goes on: by so much it may be longer than its cap. */
const BEYOND_BYTES = 512 * MIB
/** What a log that has grown is cut back to. */
const KEPT_BYTES = 64 * MIB

export const walStarvation: Scenario = async ({ folder, size }) => {
  const tally = new Tally()
  const witness = new Witness()
  const settings: LoadSettings = {
    file: join(folder, 'jobs.db'),
    effects: join(folder, 'none'),
    durability: 'normal',
    producers: 8,
    bytes: 900_000,
  }
  const walBytes = () => statSync(`${settings.file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const capBytes = size === 'slice' ? SLICE_CAP_BYTES : LIMITS.walBytes
  const nodeOptions = size === 'slice' ? ['--import', program('lowWalCap').href] : []
  await using owner = new Child(program('load'), [JSON.stringify(settings)], { nodeOptions })
  await owner.said(/^completed/)
  await using reader = new Child(program('reader'), [settings.file])
  await reader.said(/^holds$/)
  // Without a cap it is not to fill the disk.
  while (!owner.lines.some((line) => line.startsWith('refused')) && walBytes() <= capBytes + BEYOND_BYTES) {
    await owner.saidLines(owner.lines.length + 20)
  }
  const from = owner.lines.length
  // It is at its cap: some more refusals, and all that ran is done.
  if (walBytes() <= capBytes + BEYOND_BYTES) await owner.saidLines(from + 500)
  const longest = walBytes()
  tally.expect(longest > capBytes / 2, 'the test', `the log is at ${longest} bytes only`)
  tally.expect(longest <= capBytes + BEYOND_BYTES, '31', `the log has grown to ${longest} bytes behind a reader`)
  reader.tell('let go')
  await reader.said(/^let go$/)
  const free = owner.lines.length
  await owner.said(/^enqueued/, free)
  // A commit after the log was folded in begins it anew, and cuts it.
  await owner.said(/^completed/, free)
  const after = walBytes()
  tally.expect(after <= KEPT_BYTES + 64 * MIB, '31', `without the reader the log still has ${after} bytes`)
  owner.tell('stop')
  const { code, stderr } = await owner.ended
  tally.expect(code === 0, '31', `the owner ended with ${code}: ${stderr}`)
  witness.take(owner.lines)
  const refusals = [...witness.refusals.keys()]
  tally.expect(refusals.join() === 'STORAGE_BUSY', 'typed errors', refusals.join())
  tally.cycles++
  tally.acknowledged = witness.acknowledged
  witness.audit(settings.file, tally, { drained: false })
  tally.facts.push(
    `the log grew to ${Math.round(longest / MIB)} MiB (its cap is ${capBytes / MIB}), and was ${Math.round(after / MIB)} MiB after the reader had gone`,
  )
  return tally
}
