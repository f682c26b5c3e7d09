/** Producers killed anywhere, and servers too: what was answered is in the queue once, or refused once, in order. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Engine } from '@millrace/remote'
import { seededRandom } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { STEPS, type Step } from './programs/dieAt.ts'
import { quick } from './programs/jobs.ts'

const NUMBERS = 100

const program = (name: string, ...args: readonly string[]) => startProgram(new URL(`./programs/${name}.ts`, import.meta.url), args)

async function killed(seed: number, rounds: number, step?: Step): Promise<number> {
  const random = seededRandom(seed)
  const folder = temporaryFolder()
  const [file, socket, journal] = [join(folder, 'jobs.db'), join(folder, 'sock'), join(folder, 'journal')]
  const below = (limit: number) => Math.floor(random() * limit)
  const startServer = async () => {
    const server = program('server', file, socket)
    await server.said(/^listening$/)
    return server
  }
  let server: Program | undefined = await startServer()
  const direct = await connect(`unix:${socket}`)
  const bystander = await direct.enqueue(quick, -1, { delay: '1h', unique: { key: 'taken', onConflict: 'error' } })
  const before = await direct.get(bystander.id)
  await direct.stop()

  const answered: number[] = []
  let dead = 0
  for (let round = 0; round < rounds; round++) {
    const chosen = step === undefined ? [] : [step, String(1 + below(4))]
    const producer = program('producer', socket, journal, String(round * NUMBERS), String(NUMBERS), ...chosen)
    const lines = 1 + below(NUMBERS)
    // With a server it comes to every step by itself.
    if (step !== undefined && server !== undefined) await producer.ended
    else await Promise.race([producer.saidLines(lines).catch(() => {}), producer.ended])
    if (round % 3 === 1) {
      await server?.kill()
      server = undefined
    } else server ??= await startServer()
    const { signalCode } = producer.child
    if (signalCode === 'SIGKILL') dead++
    await producer.kill()
    answered.push(...producer.lines.map(Number))
  }
  server ??= await startServer()
  const last = program('producer', socket, journal, '0', '0')
  expect(await last.ended).toMatchObject({ code: 0 })

  const engine = await connect(`unix:${socket}`)
  const queued = await numbers(engine)
  const refused = refusedIn(journal)
  expect(queued).toEqual([...new Set(queued)].toSorted((a, b) => a - b))
  expect(refused).toEqual([...new Set(refused)].toSorted((a, b) => a - b))
  expect(queued.filter((number) => number % 10 === 7)).toEqual([])
  expect(refused.filter((number) => number % 10 !== 7)).toEqual([])
  const known = new Set([...queued, ...refused])
  expect(answered.filter((number) => !known.has(number))).toEqual([])
  expect(answered.length).toBeGreaterThan(0)
  expect(await engine.get(bystander.id)).toEqual(before)
  await engine.stop()
  return dead
}

/** Of the jobs in the queue, in their order. */
async function numbers(engine: Engine): Promise<number[]> {
  const all: number[] = []
  let after: string | undefined
  do {
    const page = await engine.list({ limit: 200, ...(after !== undefined && { after }) })
    all.push(...page.jobs.map(({ data }) => data as number))
    after = page.next
  } while (after !== undefined)
  return all.filter((number) => number >= 0).toReversed()
}

function refusedIn(journal: string): number[] {
  try {
    return readFileSync(join(journal, 'refused.ndjson'), 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return JSON.parse(line).jobs.map(({ data }: { data: number }) => data)
        } catch {
          // Begun by one that was killed.
          return []
        }
      })
  } catch {
    return []
  }
}

test.each([1, 2])('killed at any moment (%i)', async (seed) => {
  await killed(seed, 15)
})

test.each(STEPS)('killed at the step "%s"', async (step) => {
  expect(await killed(STEPS.indexOf(step), 9, step)).toBeGreaterThanOrEqual(6)
})
