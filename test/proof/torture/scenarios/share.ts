/**
 * Processes that share a file: whichever owns it is killed under load, again and again, and another has to. What was acknowledged is
 * there once, and completed; no run begins twice.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AlreadyOpenError, openEngine } from '@millrace/engine'
import { seededRandom } from '@millrace/testkit/internal'
import { auditFile } from '../../../../packages/sqlite/src/testing/inspect.ts'
import { Child } from '../child.ts'
import { type Scenario, Tally } from '../scenario.ts'

const MEMBER = new URL('../../../share/member.ts', import.meta.url)
const WORKERS = 3
const BATCH = 200
const PAUSE_MS = 50

interface Fact {
  readonly acknowledged?: number
  readonly failed?: number
  readonly started?: number
  readonly run?: number
  readonly stats?: Readonly<Record<string, number>>
}

export const sharedOwnerKills: Scenario = async ({ seed, folder, size }) => {
  const random = seededRandom(seed)
  const tally = new Tally()
  const file = join(folder, 'jobs.db')
  const facts: Fact[] = []
  await using children = new AsyncDisposableStack()
  const start = async (role: 'producer' | 'worker') => {
    const member = children.use(new Child(MEMBER, [file, role]))
    await member.said(/"opened"/)
    return member
  }
  const gone = (member: Child) => void facts.push(...member.lines.map((line) => JSON.parse(line) as Fact))
  let producer = await start('producer')
  const workers = [await start('worker')]
  while (workers.length < WORKERS) workers.push(await start('worker'))

  let next = 0
  const say = (numbers: Iterable<number>) => {
    for (const number of numbers) producer.tell(JSON.stringify({ enqueue: number }))
  }
  const acknowledgedBy = (member: Child) => member.lines.flatMap((line) => (JSON.parse(line) as Fact).acknowledged ?? [])
  const known = new Set<number>()
  let producersKilled = 0
  for (let kill = 0; kill < (size === 'slice' ? 4 : 40); kill++) {
    say(Array.from({ length: BATCH }, () => next++))
    await producer.said(new RegExp(`"acknowledged":${next - 1 - Math.floor(random() * BATCH)}}`))
    const owner = await ownerOf(file)
    const killed = [producer, ...workers].find((member) => member.process.pid === owner)
    tally.expect(killed !== undefined, '8', `process ${owner} owns the file, and is none of those that were started`)
    if (killed === undefined) break
    await killed.kill()
    gone(killed)
    tally.kills++
    tally.cycles++
    if (killed === producer) {
      producersKilled++
      for (const number of acknowledgedBy(killed)) known.add(number)
      producer = await start('producer')
      // What it had not heard of is said again, under the same key.
      say(Array.from({ length: next }, (_, number) => number).filter((number) => !known.has(number)))
    } else {
      workers.splice(workers.indexOf(killed), 1)
      workers.push(await start('worker'))
    }
  }
  await allAcknowledged(producer, known, next)
  await allDone(producer)
  for (const member of [...workers, producer]) {
    member.tell(JSON.stringify({ stop: true }))
    const { code, stderr } = await member.ended
    tally.expect(code === 0, '27', `a process does not end well: ${code} ${stderr}`)
    gone(member)
  }

  const { problems, jobs } = auditFile(file)
  for (const problem of problems) tally.violations.push(`7: ${problem}`)
  const acknowledged = new Set([...known, ...facts.flatMap((fact) => fact.acknowledged ?? [])])
  tally.acknowledged = acknowledged.size
  tally.lost = acknowledged.size - jobs.filter(({ state }) => state === 'completed').length
  tally.expect(
    jobs.length === next && acknowledged.size === next,
    '1, 25',
    `${next} keys, ${acknowledged.size} answers, ${jobs.length} jobs`,
  )
  tally.expect(tally.lost === 0, '1, 2, 20', `${tally.lost} jobs were acknowledged, and are not completed`)
  const refused = facts.filter((fact) => fact.failed !== undefined)
  tally.expect(refused.length === 0, 'retryable errors', `refused for good: ${JSON.stringify(refused.slice(0, 3))}`)
  const runs = facts.flatMap(({ started, run }) => (started === undefined ? [] : [`${started} ${run}`]))
  tally.expect(new Set(runs).size === runs.length, '10', 'a run begins twice')
  tally.facts.push(`${tally.kills} owners killed, ${producersKilled} of them producers; ${runs.length} runs of ${next} jobs`)
  return tally
}

/** Whoever asks for the file alone is told who has it. */
async function ownerOf(file: string): Promise<number | undefined> {
  for (;;) {
    try {
      // Nobody has it just now: given back at once, and asked again.
      await (await openEngine({ file })).stop()
    } catch (error) {
      if (!(error instanceof AlreadyOpenError)) throw error
      return error.pid
    }
    await delay(PAUSE_MS)
  }
}

async function allAcknowledged(producer: Child, known: ReadonlySet<number>, count: number): Promise<void> {
  for (let number = 0; number < count; number++)
    if (!known.has(number)) await producer.said(new RegExp(`"(?:acknowledged|failed)":${number}[,}]`))
}

async function allDone(member: Child): Promise<void> {
  for (;;) {
    const before = member.lines.length
    member.tell(JSON.stringify({ stats: true }))
    const { stats = {} } = JSON.parse(await member.said(/"stats"/, before)) as Fact
    if ((stats['waiting'] ?? 0) + (stats['scheduled'] ?? 0) + (stats['active'] ?? 0) === 0) return
    await delay(PAUSE_MS)
  }
}
