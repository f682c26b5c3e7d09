/** `flows.get` on a reader's thread, and where there is none, on the writer's; and from another process or thread. */
import { attach, type Engine, type FlowJob, type FlowSummary, LIMITS, openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFile, temporaryFolder } from '../temporary.ts'

async function opened(options: { readonly file: string; readonly readers?: number }): Promise<Engine> {
  const engine = await openEngine({ ...options, durability: 'normal' })
  onTestFinished(() => engine.stop())
  return engine
}

async function pagesOf(engine: Engine, id: string, limit?: number): Promise<FlowJob[][]> {
  const pages: FlowJob[][] = []
  for (let after: string | undefined; ; ) {
    const page = await engine.flows.get(id, { ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) })
    pages.push([...(page?.jobs ?? [])])
    after = page?.next
    if (after === undefined) return pages
  }
}

const PARENTS = 120
const MANY = 30

/** One that waits for all, and many that wait for as many: more than a page has. */
const nodes = [
  ...Array.from({ length: PARENTS }, (_, n) => ({ ref: `p${n}`, job: 'part', data: n })),
  ...Array.from({ length: MANY }, (_, n) => ({
    ref: `sum${n}`,
    job: 'sum',
    dependsOn: Array.from({ length: PARENTS }, (_each, at) => `p${at}`),
  })),
]

describe.each([
  ['a reader', () => ({ file: temporaryFile() })],
  ['the writer', () => ({ file: temporaryFile(), readers: 0 })],
  ['a database in memory', () => ({ file: ':memory:' })],
] as const)('%s', (_what, options) => {
  test('reads a flow whole, in pages that are bounded by its jobs and by what they wait for', async () => {
    const engine = await opened(options())
    await engine.flow([{ ref: 'beside', job: 'part' }])
    const { id, jobs } = await engine.flow(nodes)
    await engine.flow([{ ref: 'beside', job: 'part' }])
    await engine.cancel(jobs['p1']?.id as string)
    await expect(jobs[`sum${MANY - 1}`]?.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
    const pages = await pagesOf(engine, jobs['sum3']?.id as string, 200)
    expect(pages.flat().map(({ ref }) => ref)).toEqual(nodes.map(({ ref }) => ref))
    const edges = pages.map((page) => page.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0))
    expect(Math.max(...edges)).toBeLessThanOrEqual(LIMITS.edgesPerPage)
    expect(edges).toEqual([8 * PARENTS, 8 * PARENTS, 8 * PARENTS, 6 * PARENTS])
    const { dependsOn, ...sum } = pages.flat().at(-1) as FlowJob
    expect(sum).toMatchObject({ id: jobs[`sum${MANY - 1}`]?.id, name: 'sum', queue: 'default', state: 'failed', onParentFailure: 'fail' })
    expect(sum.finishedAt).toBeInstanceOf(Date)
    expect(dependsOn.map(({ ref }) => ref)).toEqual(nodes.slice(0, PARENTS).map(({ ref }) => ref))
    expect(dependsOn.slice(0, 2)).toEqual([
      { id: jobs['p0']?.id, ref: 'p0', told: undefined },
      { id: jobs['p1']?.id, ref: 'p1', told: 'cancelled' },
    ])
    const small = await engine.flows.get(id)
    expect([small?.id, small?.jobs.length]).toEqual([id, 50])
    const smaller = await pagesOf(engine, id, 60)
    expect(smaller.map(({ length }) => length)).toEqual([60, 60, 8, 8, 8, 6])
    expect(smaller.flat()).toEqual(pages.flat())
  })
})

test.each([1, 2])('flows of any size are listed whole, %i to a page, each counted by itself', async (limit) => {
  const engine = await opened({ file: temporaryFile() })
  const sizes = [2, LIMITS.jobsPerCommand, 3, 1_024]
  const ids: string[] = []
  for (const size of sizes) {
    await engine.enqueue('plain')
    // The first is waited for, and the last waits for nobody.
    const nodes = Array.from({ length: size }, (_, n) => ({ ref: `n${n}`, job: 'part', ...(n === 1 && { dependsOn: ['n0'] }) }))
    const { id, jobs } = await engine.flow(nodes)
    ids.push(id)
    if (size === 3) await engine.cancel(jobs['n2']?.id as string)
  }
  const listed: FlowSummary[] = []
  for (let after: string | undefined; ; ) {
    const page = await engine.flows.list({ limit, ...(after !== undefined && { after }) })
    listed.push(...page.flows)
    after = page.next
    if (after === undefined) break
  }
  expect(listed.map(({ id }) => id)).toEqual(ids.toReversed())
  expect(listed.map(({ states: { waiting, blocked, cancelled } }) => [waiting, blocked, cancelled])).toEqual(
    sizes.map((size) => (size === 3 ? [1, 1, 1] : [size - 1, 1, 0])).toReversed(),
  )
  for (const { id, states } of listed) expect((await engine.flows.get(id, { limit: 1 }))?.states).toEqual(states)
})

test('from another process or thread it is the same', async () => {
  const engine = await opened({ file: temporaryFile() })
  const { id } = await engine.flow(nodes)
  const plain = await engine.enqueue('part')
  const server = await listen(engine, `unix:${temporaryFolder()}/run/q.sock`)
  onTestFinished(() => server.close())
  const far = await connect(server.url)
  onTestFinished(() => far.stop())
  const near = attach(engine.port())
  onTestFinished(() => near.stop())
  const pages = await pagesOf(engine, id, 200)
  for (const other of [far, near]) {
    expect(await pagesOf(other, id, 200)).toEqual(pages)
    expect(await other.flows.get(plain.id)).toBeUndefined()
    expect(await other.flows.list()).toEqual(await engine.flows.list())
  }
})

test('a job that waits for more than a page tells of goes on on the next', async () => {
  const engine = await opened({ file: temporaryFile() })
  const parts = Array.from({ length: LIMITS.jobsPerCommand - 1 }, () => ({ job: 'part' }))
  const { id, jobs, callback } = await engine.batch(parts, { job: 'sum' })
  const told = (await pagesOf(engine, id, 200)).flat()
  const [others, sums] = [told.filter((job) => job.id !== callback.id), told.filter((job) => job.id === callback.id)]
  expect(others.map((job) => job.id)).toEqual(jobs.map((job) => job.id))
  expect(sums.map(({ parents, dependsOn }) => [parents, dependsOn.length])).toEqual(
    Array.from({ length: 10 }, (_, page) => [parts.length, page < 9 ? LIMITS.edgesPerPage : parts.length - 9 * LIMITS.edgesPerPage]),
  )
  expect(sums.flatMap(({ dependsOn }) => dependsOn.map((job) => job.id))).toEqual(jobs.map((job) => job.id))
})

test('what is no flow is undefined; what is misused is told', async () => {
  const engine = await opened({ file: ':memory:' })
  const plain = await engine.enqueue('part')
  for (const id of [plain.id, 'none', '01990a5e-7f00-7000-8000-000000400001']) expect(await engine.flows.get(id)).toBeUndefined()
  await expect(engine.flows.get('')).rejects.toMatchObject({ code: 'OPTION_TYPE', option: 'id' })
  for (const [options, wrong] of [
    [{ limit: 0 }, { option: 'limit', limit: 1 }],
    [{ limit: 201 }, { option: 'limit', limit: 200 }],
    [{ after: 'x' }, { code: 'OPTION_TYPE', option: 'after' }],
    [{ befor: 1 }, { code: 'OPTION_TYPE', option: 'befor' }],
  ] as const)
    await expect(engine.flows.get(plain.id, options as object)).rejects.toMatchObject(wrong)
})
