/** Several processes want one file, each owner is killed under load, and the next takes over: at most one at any time. */
import { join } from 'node:path'
import { seededRandom } from '@millrace/testkit/internal'
import { Child } from '../child.ts'
import type { LoadSettings } from '../programs/load.ts'
import { type Scenario, Tally } from '../scenario.ts'
import { Witness } from '../witness.ts'

const LOAD = new URL('../programs/load.ts', import.meta.url)
const isOpen = (child: Child) => child.lines.includes('open')

export const takeOvers: Scenario = async ({ seed, folder, size }) => {
  const random = seededRandom(seed)
  const tally = new Tally()
  const witness = new Witness()
  const settings: LoadSettings = { file: join(folder, 'jobs.db'), effects: join(folder, 'none'), waitForOwner: '5m' }
  const start = () => new Child(LOAD, [JSON.stringify(settings)])
  const contenders = [start(), start(), start()]
  const kills = size === 'slice' ? 6 : 60
  try {
    for (let kill = 0; kill < kills; kill++) {
      const owner = await Promise.any(contenders.map((child) => child.said(/^open$/).then(() => child)))
      await owner.saidLines(20 + Math.floor(random() * 400))
      const owners = contenders.filter(isOpen)
      tally.expect(owners.length === 1, '8', `${owners.length} processes have the file at a time`)
      contenders.splice(contenders.indexOf(owner), 1)
      await owner.kill()
      witness.take(owner.lines)
      contenders.push(start())
      tally.kills++
      tally.cycles++
    }
  } finally {
    for (const child of contenders) await child.kill()
  }
  // One may have got the file meanwhile.
  for (const child of contenders) witness.take(child.lines)
  await using last = new Child(LOAD, [JSON.stringify({ ...settings, drain: true })])
  const { code, stderr } = await last.ended
  witness.take(last.lines)
  tally.expect(code === 0, '20', `what was left could not be done: ${code} ${stderr}`)
  tally.acknowledged = witness.acknowledged
  witness.audit(settings.file, tally, { drained: true })
  tally.facts.push(`${witness.cutOff} runs cut off; ${witness.history.summary}`)
  return tally
}
