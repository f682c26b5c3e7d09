/** The wall clock jumps by hours, forth and back, under a running owner; the monotonic one does not. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Child } from '../child.ts'
import { faketimeLibrary } from '../machine.ts'
import { type Scenario, skippedFor, Tally } from '../scenario.ts'
import { Witness } from '../witness.ts'

const BEATS = new URL('../programs/beats.ts', import.meta.url)
const JUMPS = ['+2h', '+0', '-2h', '+1d', '-30m', '+0']

/** 22: nothing expires early or runs twice, what was due by another time still runs. */
export const clockJumps: Scenario = async ({ folder, size }) => {
  const library = faketimeLibrary()
  if (library === undefined) {
    return skippedFor('libfaketime is not installed (Debian package faketime), nor does FAKETIME_LIBRARY name its libfaketimeMT.so.1')
  }
  const tally = new Tally()
  const witness = new Witness()
  const file = join(folder, 'jobs.db')
  const clock = join(folder, 'clock')
  const set = (offset: string) => writeFileSync(clock, `${offset}\n`)
  set('+0')
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    // With a monotonic clock that jumps as well, Node's own timers stand still.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  await using owner = new Child(BEATS, [file], { env })
  await owner.said(/^completed/)
  const rounds = size === 'slice' ? 1 : 10
  for (let round = 0; round < rounds; round++) {
    for (const jump of JUMPS) {
      set(jump)
      const from = owner.lines.length
      await owner.said(/^completed/, from)
      await owner.saidLines(owner.lines.length + 60)
      tally.cycles++
    }
  }
  // What was due by a clock that was ahead is due now.
  set('+3d')
  owner.tell('stop')
  const { code, stderr } = await owner.ended
  tally.expect(code === 0, '22', `not everything came to its end: ${stderr}`)
  witness.take(owner.lines)
  const aborted = owner.linesOf('aborted')
  tally.expect(aborted.length === 0, '22', `${aborted.length} runs have expired by the wall clock: ${aborted[0]}`)
  tally.expect(witness.refusals.size === 0, 'typed errors', `${[...witness.refusals.keys()]}`)
  tally.acknowledged = witness.acknowledged
  witness.audit(file, tally, { drained: true })
  tally.facts.push(`${tally.cycles} jumps`)
  return tally
}
