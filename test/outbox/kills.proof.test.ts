/** Apps killed anywhere, and their servers too: what was committed is in the queue once, or refused once; what was rolled back is nowhere. */
import { join } from 'node:path'
import { type Engine, openEngine } from '@millrace/engine'
import { connect } from '@millrace/remote'
import { seededRandom } from '@millrace/testkit/internal'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { STEPS, type Step } from './programs/dieAt.ts'

const NUMBERS = 60

const serverProgram = new URL('../remote/programs/server.ts', import.meta.url)
const app = (...args: readonly string[]) => startProgram(new URL('./programs/app.ts', import.meta.url), args)

interface Found {
  readonly committed: readonly number[]
  readonly queued: readonly number[]
  readonly refused: readonly number[]
}

/** Every order that is committed has its job, in the queue or refused; nothing else has. */
function check({ committed, queued, refused }: Found, told: readonly number[]): void {
  expect(queued).toEqual([...new Set(queued)])
  expect(refused.filter((number) => number % 10 !== 7)).toEqual([])
  expect([...queued, ...refused].toSorted((one, other) => one - other)).toEqual(committed)
  expect(committed.filter((number) => number % 3 === 0)).toEqual([])
  expect(told.filter((number) => !committed.includes(number))).toEqual([])
  expect(told.length).toBeGreaterThan(0)
}

async function found(database: string, engine: Engine): Promise<Found> {
  const queued: number[] = []
  let after: string | undefined
  do {
    const page = await engine.list({ limit: 200, ...(after !== undefined && { after }) })
    queued.push(...page.jobs.map(({ data }) => data as number))
    after = page.next
  } while (after !== undefined)
  const connection = new Database(database, { readonly: true })
  const committed = connection.prepare('SELECT number FROM orders ORDER BY number').pluck().all() as number[]
  const rows = connection.prepare('SELECT data, code FROM millrace_outbox ORDER BY seq').all() as { data: string; code: string | null }[]
  connection.close()
  expect(rows.filter(({ code }) => code !== 'UNIQUE_CONFLICT')).toEqual([])
  return { committed, queued: queued.filter((number) => number >= 0), refused: rows.map(({ data }) => Number(data)) }
}

async function killed(seed: number, rounds: number, step?: Step): Promise<number> {
  const below = (
    (random) => (limit: number) =>
      Math.floor(random() * limit)
  )(seededRandom(seed))
  const folder = temporaryFolder()
  const [file, socket, database] = [join(folder, 'jobs.db'), join(folder, 'sock'), join(folder, 'app.db')]
  const startServer = async () => {
    const server = startProgram(serverProgram, [file, socket])
    await server.said(/^listening$/)
    return server
  }
  let server: Program = await startServer()
  const direct = await connect(`unix:${socket}`)
  const bystander = await direct.enqueue('order', -1, { delay: '1h', unique: { key: 'taken', onConflict: 'error' } })
  const before = await direct.get(bystander.id)
  await direct.stop()

  const told: number[] = []
  let dead = 0
  for (let round = 0; round < rounds; round++) {
    const chosen = step === undefined ? [] : [step, String(1 + below(step === 'send' || step === 'answer' ? 8 : 4))]
    const running = app(database, `unix:${socket}`, String(round * NUMBERS), String(NUMBERS), ...chosen)
    await Promise.race([step === undefined ? running.saidLines(1 + below(NUMBERS / 2)).catch(() => {}) : running.ended, running.ended])
    if (running.child.signalCode === 'SIGKILL') dead++
    if (round % 3 === 1) {
      await server.kill()
      await running.kill()
      server = await startServer()
    } else await running.kill()
    told.push(...running.lines.map(Number))
  }
  expect(await app(database, `unix:${socket}`, '0', '0').ended).toMatchObject({ code: 0 })

  const engine = await connect(`unix:${socket}`)
  check(await found(database, engine), told)
  expect(await engine.get(bystander.id)).toEqual(before)
  await engine.stop()
  return dead
}

test.each([1, 2])('killed at any moment (%i)', async (seed) => {
  await killed(seed, 12)
})

test.each(STEPS)('killed at the step "%s"', async (step) => {
  expect(await killed(STEPS.indexOf(step), 6, step)).toBe(6)
})

test('N11: killed at any moment, with the engine in the same process', async () => {
  const below = (
    (random) => (limit: number) =>
      Math.floor(random() * limit)
  )(seededRandom(3))
  const folder = temporaryFolder()
  const [file, database] = [join(folder, 'jobs.db'), join(folder, 'app.db')]
  const told: number[] = []
  for (let round = 0; round < 10; round++) {
    const running = app(database, file, String(round * NUMBERS), String(NUMBERS))
    await Promise.race([running.saidLines(1 + below(NUMBERS / 2)), running.ended])
    await running.kill()
    told.push(...running.lines.map(Number))
  }
  expect(await app(database, file, '0', '0').ended).toMatchObject({ code: 0 })
  await using engine = await openEngine({ file })
  check(await found(database, engine), told)
})
