// How many times `schedules next` shows.
import { openEngine } from '@millrace/engine'
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
