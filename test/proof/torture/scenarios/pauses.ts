/**
 * The owner sees time pass all at once: it is stopped and continued (SIGSTOP, SIGCONT), or its writer thread alone stands still, for
 * longer than the timeouts of what runs.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Child } from '../child.ts'
import type { LoadSettings } from '../programs/load.ts'
import { type Scenario, Tally } from '../scenario.ts'
import { Witness } from '../witness.ts'

const program = (name: string) => new URL(`../programs/${name}.ts`, import.meta.url)
/** Twice the timeout of the jobs that run. */
const PAUSE_MS = 1_300

/** Nothing runs twice at a time, nothing is lost, and nobody takes over from an owner that only sleeps. */
export const stoppedOwner: Scenario = async ({ folder, size }) => {
  const tally = new Tally()
  const witness = new Witness()
  const file = join(folder, 'jobs.db')
  await using owner = new Child(program('beats'), [file])
  await owner.said(/^completed/)
  const pauses = size === 'slice' ? 2 : 20
  for (let pause = 0; pause < pauses; pause++) {
    owner.signal('SIGSTOP')
    const opening: LoadSettings = { file, effects: join(folder, 'none') }
    await using second = new Child(program('load'), [JSON.stringify(opening)])
    const { code } = await second.ended
    tally.expect(code === 3 && second.lines.includes('not opened ALREADY_OPEN'), '8', `beside a stopped owner: ${second.lines.join(' | ')}`)
    // Time is what is under test: it has to pass while the process does not.
    await delay(PAUSE_MS)
    const from = owner.lines.length
    owner.signal('SIGCONT')
    await owner.said(/^completed/, from)
    await owner.saidLines(owner.lines.length + 40)
    tally.cycles++
  }
  owner.tell('stop')
  const { code, stderr } = await owner.ended
  tally.expect(code === 0, '20', `after the pauses not everything came to its end: ${stderr}`)
  witness.take(owner.lines)
  tally.expect(witness.refusals.size === 0, 'typed errors', `a pause is no reason to refuse: ${[...witness.refusals.keys()]}`)
  const aborted = owner.linesOf('aborted')
  for (const abort of aborted) tally.expect(abort === 'JOB_TIMEOUT' || abort === 'LEASE_LOST', 'typed errors', `aborted by ${abort}`)
  tally.acknowledged = witness.acknowledged
  witness.audit(file, tally, { drained: true })
  tally.facts.push(`${aborted.length} runs over their timeout after ${pauses} pauses of ${PAUSE_MS} ms`)
  return tally
}

/** 33: heartbeats that sit unread for longer than the timeout are processed before anything expires. */
export const unreadHeartbeats: Scenario = async ({ folder, size }) => {
  const tally = new Tally()
  const witness = new Witness()
  const file = join(folder, 'jobs.db')
  await using owner = new Child(program('beats'), [file], { nodeOptions: ['--import', program('stalling').href] })
  await owner.said(/^completed/)
  const stalls = size === 'slice' ? 2 : 20
  for (let stall = 0; stall < stalls; stall++) {
    const from = owner.lines.length
    owner.tell(`stall ${PAUSE_MS}`)
    await owner.said(/^stalled$/, from)
    await owner.said(/^completed/, owner.lines.length)
    tally.cycles++
  }
  owner.tell('stop')
  const { code, stderr } = await owner.ended
  tally.expect(code === 0, '20', `not everything came to its end: ${stderr}`)
  witness.take(owner.lines)
  const aborted = owner.linesOf('aborted')
  tally.expect(
    aborted.length === 0,
    '33',
    `${aborted.length} runs have expired, though their heartbeats were sent: ${new Set(aborted).size} codes, ${aborted[0]}`,
  )
  tally.expect(witness.refusals.size === 0, 'typed errors', `nothing is to be refused: ${[...witness.refusals.keys()]}`)
  tally.acknowledged = witness.acknowledged
  witness.audit(file, tally, { drained: true })
  tally.facts.push(`the writer stood still ${stalls} times for ${PAUSE_MS} ms`)
  return tally
}
