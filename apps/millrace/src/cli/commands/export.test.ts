// Lines of an export: their order, where they end, and what an import of them keeps.
import { type Engine, type Job, openEngine } from '@millrace/engine'
import { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import type { Context } from '../context.ts'
import { importedJob } from '../imported.ts'
import { addExport } from './export.ts'

async function opened(): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  return engine
}

/** `onPage` runs after each page that is printed. */
async function exported(engine: Engine, args: readonly string[] = [], onPage = async (_page: number) => {}): Promise<Job[]> {
  const lines: string[] = []
  let pages = 0
  const out = {
    raw: async (text: string) => {
      lines.push(...text.split('\n').filter((line) => line !== ''))
      await onPage(++pages)
    },
    progress: () => ({ show: () => {}, end: () => {} }),
  }
  const program = new Command()
  addExport(program, { connect: async () => engine, out, signal: new AbortController().signal } as unknown as Context)
  await program.parseAsync(['export', ...args], { from: 'user' })
  return lines.map((line) => JSON.parse(line) as Job)
}

const dataOf = (jobs: readonly Job[]) => jobs.map(({ data }) => data)
const counted = (to: number) => Array.from({ length: to }, (_, at) => at)
const requests = (to: number) => counted(to).map((data) => ({ job: 'mail', data }))

test('the oldest job comes first, on every page, and an import keeps the order', async () => {
  const [engine, target] = [await opened(), await opened()]
  await engine.enqueueMany(requests(450))
  const lines = await exported(engine)
  expect(dataOf(lines)).toEqual(counted(450))
  await target.enqueueMany(lines.map(importedJob))
  expect(dataOf(await exported(target))).toEqual(counted(450))
  expect(await exported(engine, ['--queue', 'none'])).toEqual([])
})

test.each([1, 200, 250])('of %d jobs, those that come during the export are left out', async (jobs) => {
  const engine = await opened()
  await engine.enqueueMany(requests(jobs))
  const more = () => engine.enqueueMany(requests(500)).then(() => {})
  expect(dataOf(await exported(engine, [], more))).toEqual(counted(jobs))
})

test('an export ends although its newest job has gone meanwhile', async () => {
  const engine = await opened()
  const ids = await engine.enqueueMany(requests(250))
  const lines = await exported(engine, [], async (page) => {
    if (page === 1) await engine.delete(ids.at(-1)?.id as string)
    await engine.enqueueMany(requests(500))
  })
  expect(dataOf(lines.slice(0, 249))).toEqual(counted(249))
  // No page begins behind its place, and a page has at most 200 jobs. A page that has taken long is shorter.
  expect(lines.length).toBeLessThan(249 + 200)
})

test('keep, log lines and lost workers are kept; ttl, checkpoint and the place in a flow are dropped', async () => {
  const [engine, target] = [await opened(), await opened()]
  await engine.enqueue('mail', 0, { keep: '2d', logLines: 7, maxLost: 3, ttl: '1h' })
  await engine.flow([
    { ref: 'a', job: 'first' },
    { ref: 'b', job: 'second', dependsOn: ['a'] },
  ])
  const lines = await exported(engine)
  expect(lines.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'blocked'])
  expect(importedJob({ ...lines[0], checkpoint: { page: 3 } })).toEqual(importedJob(lines[0]))
  await target.enqueueMany(lines.map(importedJob))
  const [mail, first, second] = await exported(target)
  expect(mail).toMatchObject({ keep: 172_800_000, logLines: 7, maxLost: 3 })
  expect(lines[0]?.expiresAt).toEqual(expect.any(String))
  expect(mail?.expiresAt ?? null).toBeNull()
  expect([first?.state, second?.state, second?.flow ?? null]).toEqual(['waiting', 'waiting', null])
})
