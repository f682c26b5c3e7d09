// How many times `schedules next` shows.
import { type Engine, openEngine } from '@millrace/engine'
import { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import type { Context } from '../context.ts'
import { addSchedules } from './schedules.ts'

test('schedules next shows 1 to 1,000 times, 5 by default', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  await engine.schedules.upsert('tick', { every: '1m' }, { job: 'mail' })
  const next = async (...flags: readonly string[]): Promise<number> => {
    const answers: { readonly nextRuns: readonly Date[] }[] = []
    const program = new Command()
    const out = { answer: async (value: (typeof answers)[number]) => void answers.push(value) }
    addSchedules(program, { connect: async () => engine, out } as unknown as Context)
    await program.parseAsync(['schedules', 'next', 'tick', ...flags], { from: 'user' })
    return answers[0]?.nextRuns.length ?? 0
  }
  expect([await next(), await next('-n', '1'), await next('-n', '1000')]).toEqual([5, 1, 1_000])
  for (const wrong of ['0', '1001', '-1']) await expect(next('-n', wrong)).rejects.toThrow(`times must be between 1 and 1000, got ${wrong}`)
  await expect(next('-n', 'x')).rejects.toMatchObject({ code: 'OPTION_TYPE' })
})

/** Runs `millrace schedules` in this process. Resolves to its answers and notes. */
async function run(engine: Engine, ...args: readonly string[]) {
  const said = { answers: [] as unknown[], notes: [] as string[] }
  const program = new Command()
  const out = {
    json: false,
    answer: async (value: unknown) => void said.answers.push(value),
    note: (text: string) => void said.notes.push(text),
  }
  addSchedules(program, { connect: async () => engine, out } as unknown as Context)
  await program.parseAsync(['schedules', ...args], { from: 'user' })
  return said
}

test('schedules update removes bounds with none, and refuses to change nothing', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const bounds = { startAt: new Date('2030-01-01'), endAt: new Date('2040-01-01'), catchUpWithin: 60_000, maxRuns: 5 }
  await engine.schedules.upsert('tick', { every: '1m', ...bounds }, { job: 'mail' })
  await expect(run(engine, 'update', 'tick')).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('nothing to change'),
  })
  expect(await engine.schedules.get('tick')).toMatchObject(bounds)
  await run(engine, 'update', 'tick', '--end-at', 'none', '--max-runs', 'none')
  const without = await engine.schedules.get('tick')
  expect(without).toMatchObject({ startAt: bounds.startAt, catchUpWithin: 60_000 })
  expect([without?.endAt, without?.maxRuns]).toEqual([undefined, undefined])
  await run(engine, 'update', 'tick', '--start-at', 'none', '--catch-up-within', 'none')
  const unbound = await engine.schedules.get('tick')
  expect([unbound?.startAt, unbound?.catchUpWithin]).toEqual([undefined, undefined])
})

test('schedules trigger notes that it returns the last job, which has not ended', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  await engine.schedules.upsert('tick', { every: '1h' }, { job: 'mail' })
  const first = await run(engine, 'trigger', 'tick')
  expect(first).toMatchObject({ answers: [{ created: true }], notes: [] })
  const [{ jobId }] = first.answers as [{ readonly jobId: string }]
  expect(await run(engine, 'trigger', 'tick')).toEqual({
    answers: [{ id: 'tick', jobId, created: false }],
    notes: [expect.stringContaining('the last job of tick has not ended')],
  })
})
