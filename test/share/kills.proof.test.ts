// Processes on one file whose owners are killed under load, or stand still.
import { readFileSync } from 'node:fs'
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'
import { type Fact, Member } from './members.ts'

const acknowledged = (n: number) => (fact: Fact) => fact['acknowledged'] === n
const ran = (n: number) => (fact: Fact) => fact['ran'] === n
const ownerOf = (file: string) => JSON.parse(readFileSync(`${file}-share/owner.json`, 'utf8'))

test('owners are killed in a loop under load: all that was acknowledged runs, and completes once', async () => {
  const file = temporaryFile()
  const told: Fact[] = []
  const hear = (fact: Fact) => void told.push(fact)
  const members = [
    await Member.start(file, 'worker', hear),
    await Member.start(file, 'worker', hear),
    await Member.start(file, 'worker', hear),
  ]
  const last = await Member.start(file, 'producer', hear)
  let next = 0
  for (let round = 0; round < 3; round++) {
    for (let call = 0; call < 200; call++) last.say({ enqueue: next++ })
    // In the middle of it: some are acknowledged, some are not.
    await last.until(acknowledged(next - 150))
    await members.shift()?.kill()
    members.push(await Member.start(file, 'worker', hear))
  }
  for (let n = 0; n < next; n++) await last.until(acknowledged(n))
  for (;;) {
    const before = last.facts.length
    last.say({ stats: true })
    const { stats } = await last.until((fact) => 'stats' in fact && last.facts.indexOf(fact) >= before)
    const { completed, failed } = stats as Record<string, number>
    expect(failed).toBe(0)
    if (completed === next) break
  }
  const ranOnes = new Set(told.flatMap((fact) => ('ran' in fact ? [fact['ran']] : [])))
  expect(ranOnes.size).toBe(next)
})

test('an owner that is stopped keeps the file: others wait, or are told by whom, and all goes on with it', async () => {
  const file = temporaryFile()
  const owner = await Member.start(file, 'producer')
  const worker = await Member.start(file, 'worker')
  const producer = await Member.start(file, 'producer')
  producer.say({ enqueue: 1 })
  await worker.until(ran(1))
  owner.signal('SIGSTOP')
  producer.say({ enqueue: 2 })
  // For as long as it has patience.
  await expect(openEngine({ file, share: true })).rejects.toMatchObject({
    code: 'ALREADY_OPEN',
    retryable: true,
    pid: owner.pid,
    message: expect.stringContaining('it may be stopped'),
  })
  expect(producer.facts.some(acknowledged(2))).toBe(false)
  expect(ownerOf(file)).toMatchObject({ pid: owner.pid, epoch: 1 })
  owner.signal('SIGCONT')
  await producer.until(acknowledged(2))
  await worker.until(ran(2))
  owner.say({ enqueue: 3 })
  await worker.until(ran(3))
  expect(worker.facts.filter((fact) => 'started' in fact)).toHaveLength(3)
  expect(ownerOf(file)).toMatchObject({ pid: owner.pid, epoch: 1 })
})

test('an owner is killed while 10,000 jobs are on their way to it: all of them or none, and repeated each once', async () => {
  const COUNT = 10_000
  const file = temporaryFile()
  const killed = await Member.start(file, 'producer')
  const next = await Member.start(file, 'producer')
  const asking = await Member.start(file, 'producer')
  for (const [index, owner] of [killed, next].entries()) {
    // Whoever serves now may be the one that asks: then nothing is on its way anywhere.
    if (ownerOf(file).pid !== owner.pid) break
    const lot = index + 1
    asking.say({ many: lot, count: COUNT })
    await asking.until((fact) => fact['sent'] === lot)
    await owner.kill()
    await asking.until((fact) => fact['many'] === lot)
    asking.say({ stats: true })
    const { stats } = await asking.until((fact) => Number((fact['stats'] as Fact | undefined)?.['waiting']) >= lot * COUNT)
    expect((stats as Fact)['waiting']).toBe(lot * COUNT)
    for (const { found } of asking.facts.filter((fact) => fact['of'] === lot)) expect([(lot - 1) * COUNT, lot * COUNT]).toContain(found)
  }
})
