/** kill -9 of the owner under load, again and again on one file, several times a second; then all that is left is done. */
import { join } from 'node:path'
import { seededRandom } from '@millrace/testkit/internal'
import { Child } from '../child.ts'
import { effectsSince } from '../programs/effects.ts'
import type { LoadSettings } from '../programs/load.ts'
import { type Outcome, type Scenario, type Setting, Tally } from '../scenario.ts'
import { Witness } from '../witness.ts'

const LOAD = new URL('../programs/load.ts', import.meta.url)

export interface KillPlan {
  readonly cycles: number
  readonly durability: 'full' | 'normal'
  readonly threaded: number
}

/** One file, killed so many times. */
export async function killAgainAndAgain({ seed, folder }: Setting, plan: KillPlan): Promise<Outcome> {
  const random = seededRandom(seed)
  const { cycles, durability, threaded } = plan
  const settings: LoadSettings = { file: join(folder, 'jobs.db'), effects: join(folder, 'effects.log'), durability, threaded }
  const tally = new Tally()
  const witness = new Witness()
  let noted = 0
  const hear = (child: Child) => {
    const effects = effectsSince(settings.effects, noted)
    noted += effects.length
    // What ran on threads first: what it led to is among the lines of the process.
    witness.take([...effects, ...child.lines])
  }
  let emptyCycles = 0
  for (let cycle = 0; cycle < cycles; cycle++) {
    await using child = new Child(LOAD, [JSON.stringify(settings)])
    // Now and then while the file is being opened and its jobs are recovered.
    if (random() < 0.15) await child.said(/^starting$/)
    else {
      await child.said(/^open$/)
      await child.saidLines(30 + Math.floor(random() * 1_500))
      // The threads take a moment to start: the kill is to meet them at work.
      if (threaded > 0) await untilThreadsRun(child, settings.effects, noted)
    }
    if (child.lines.length < 2) emptyCycles++
    await child.kill()
    hear(child)
    tally.cycles++
    tally.kills++
  }
  const cutOff = witness.cutOff
  await using last = new Child(LOAD, [JSON.stringify({ ...settings, drain: true })])
  const { code, stderr } = await last.ended
  hear(last)
  tally.expect(code === 0, '20', `what was left could not be done: ${code} ${stderr}`)
  tally.expect(last.lines.includes('remainder 0'), '4', `a batch is there in part: ${last.linesOf('remainder')}`)
  tally.acknowledged = witness.acknowledged
  witness.audit(settings.file, tally, { drained: true })
  tally.expect(cutOff > 0, 'the test', 'no kill has met a run at work')
  tally.expect(emptyCycles < cycles, 'the test', 'no kill has met a queue at work')
  tally.facts.push(`${cutOff} runs cut off; ${witness.history.summary}`)
  return tally
}

/** Each completion that it says is of a job that a thread has run, or was handed to one: some lines later others run. */
async function untilThreadsRun(child: Child, effects: string, noted: number): Promise<void> {
  while (effectsSince(effects, noted).length === 0) await child.saidLines(child.lines.length + 50)
}

export const ownerKills: Scenario = async (setting) => {
  const cycles = setting.size === 'slice' ? 10 : 60
  return killAgainAndAgain(setting, { cycles, durability: setting.seed % 2 === 0 ? 'normal' : 'full', threaded: 0 })
}

export const threadKills: Scenario = async (setting) => {
  const cycles = setting.size === 'slice' ? 6 : 40
  return killAgainAndAgain(setting, { cycles, durability: 'full', threaded: 6 })
}
