/**
 * Fills the small disk that it is given, again and again, under a queue at work, and kills its owner there every other time:
 * `smallDisk.ts <folder> <cycles>`. Says its tally. (A disk of a mount namespace is only seen from within.)
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fillDisk } from '../../../failures/programs/fillDisk.ts'
import { Child } from '../child.ts'
import { Tally } from '../scenario.ts'
import { Witness } from '../witness.ts'
import type { LoadSettings } from './load.ts'

const [folder, cycles] = process.argv.slice(2) as [string, string]
const LOAD = new URL('./load.ts', import.meta.url)
const settings: LoadSettings = { file: join(folder, 'jobs.db'), effects: join(folder, 'none'), producers: 8, bytes: 500 }
const filler = join(folder, 'filler')
const REFUSALS = ['DISK_FULL']

const tally = new Tally()
const witness = new Witness()

/** On a full disk what is left is done all the same, and nothing is refused but new work. */
async function drain(): Promise<void> {
  await using child = new Child(LOAD, [JSON.stringify({ ...settings, drain: true })])
  const { code, stderr } = await child.ended
  witness.take(child.lines)
  tally.expect(
    code === 0 && child.lines.includes('stopped'),
    '32',
    `${code}: what was left could not be done: ${child.lines.at(-1)} ${stderr}`,
  )
  tally.expect(child.lines.includes('remainder 0'), '4', 'a batch is there in part')
}

for (let cycle = 0; cycle < Number(cycles); cycle++) {
  await using owner = new Child(LOAD, [JSON.stringify(settings)])
  await owner.said(/^open$/)
  await owner.saidLines(400)
  // Not while it goes on: the room that it gives up when it finds the disk full would go to the filler.
  owner.signal('SIGSTOP')
  fillDisk(filler)
  owner.signal('SIGCONT')
  const full = owner.lines.length
  await owner.said(/^refused/, full)
  if (cycle % 2 === 0) {
    await owner.kill()
    tally.kills++
    witness.take(owner.lines)
    await drain()
    rmSync(filler)
  } else {
    rmSync(filler)
    // Service resumes by itself.
    await owner.said(/^enqueued/, owner.lines.length)
    await owner.saidLines(owner.lines.length + 200)
    owner.tell('stop')
    const { code, stderr } = await owner.ended
    tally.expect(code === 0, '32', `an owner whose disk was full ended with ${code}: ${stderr}`)
    witness.take(owner.lines)
  }
  tally.cycles++
}
await drain()
for (const refusal of witness.refusals.keys()) tally.expect(REFUSALS.includes(refusal), 'typed errors', refusal)
tally.acknowledged = witness.acknowledged
witness.audit(settings.file, tally, { drained: true })
tally.facts.push([...witness.refusals].map(([refusal, times]) => `${times} ${refusal}`).join(', '))
process.stdout.write(`tally ${JSON.stringify(tally)}\n`)
