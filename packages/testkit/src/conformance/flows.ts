/** Tests jobs that wait for other jobs, the same through every Port. */
import type { CommandOf, JobKey, ReplyOf } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import type { Probe } from '../probe.ts'

const NO_JOBS = { scheduled: 0, waiting: 0, active: 0, blocked: 0, completed: 0, failed: 0, cancelled: 0 }

export function flowsConformance(under: () => Probe): void {
  let probe: Probe
  beforeEach(() => {
    probe = under()
  })

  const stateOf = async (id: JobKey) => (await probe.call<'get'>({ op: 'get', id }))?.state

  test('flows: a job is let through once all that it waits for have ended, and can ask what became of them', async () => {
    const key = (place: number): JobKey => ({ ...first, seq: first.seq + place })
    const job = { name: 'a', data: null }
    const first = await probe.call<'flow'>({
      op: 'flow',
      nodes: [
        { ref: 'one', job, parents: [], onFailure: 'fail' },
        { ref: 'two', job, parents: [], onFailure: 'fail' },
        { ref: 'both', job: { ...job, data: '3' }, parents: [0, 1], onFailure: 'continue' },
        { ref: 'never', job, parents: [1], onFailure: 'fail' },
        { ref: 'after', job, parents: [3], onFailure: 'fail' },
      ],
    })
    expect(first.created).toBe(true)
    const bystander = await probe.call<'flow'>({
      op: 'flow',
      nodes: [{ ref: 'one', job: { name: 'b', data: null }, parents: [], onFailure: 'fail' }],
    })
    const listed = async (flow: JobKey) => (await probe.call<'list'>({ op: 'list', filter: { flow }, limit: 9 })).jobs.map(({ seq }) => seq)
    expect(await listed(key(0))).toEqual([4, 3, 2, 1, 0].map((place) => key(place).seq))
    expect(await listed(bystander)).toEqual([bystander.seq])
    expect(await listed(key(1))).toEqual([])
    expect(await stateOf(key(2))).toBe('blocked')
    expect(await probe.call<'get'>({ op: 'get', id: key(2) })).toMatchObject({
      flow: { ref: 'both', parents: 2, onParentFailure: 'continue', first: { seq: first.seq } },
    })
    await probe.attach(['a'])
    const [one, two] = [await probe.grants.take(), await probe.grants.take()]
    const output = new Uint8Array([0, 255])
    await probe.call<'complete'>({ op: 'complete', seq: one.seq, run: one.run, output })
    await probe.call<'fail'>({ op: 'fail', seq: two.seq, run: two.run, error: { name: 'E', message: 'm' }, retry: false })
    const { seq, run } = await probe.grants.take()
    expect(seq).toBe(first.seq + 2)
    const { parents, next } = await probe.call<'parents'>({ op: 'parents', seq, run })
    expect(next).toBeNull()
    expect(parents).toMatchObject([
      { ref: 'one', state: 'completed' },
      { ref: 'two', state: 'failed', output: null, error: { name: 'E', message: 'm' } },
    ])
    expect(Uint8Array.from(parents[0]?.output as Uint8Array)).toEqual(output)
    await expect(probe.call<'parents'>({ op: 'parents', seq, run: run + 1 })).rejects.toMatchObject({ code: 'STALE_RUN' })
    expect(await probe.call<'watch'>({ op: 'watch', id: key(4) })).toMatchObject({
      state: 'failed',
      error: { name: 'ParentFailedError' },
    })
    expect(await stateOf(key(3))).toBe('failed')
    await expect(probe.call<'retry'>({ op: 'retry', id: key(4) })).rejects.toMatchObject({ code: 'PARENT_FAILED' })
  })

  test('join: a run ends with jobs that its job waits for, which sees what became of them', async () => {
    const { seq } = await probe.enqueue('parent')
    await probe.attach(['parent', 'child'])
    const first = await probe.grants.take()
    expect(first).toMatchObject({ seq, run: 1, attempt: 1 })
    const child = { name: 'child', data: null }
    await probe.call<'join'>({ op: 'join', seq, run: 1, name: 'pages', jobs: [child, child] })
    expect(await stateOf(first)).toBe('blocked')
    await expect(probe.call<'join'>({ op: 'join', seq, run: 1, name: 'pages', jobs: [child] })).rejects.toMatchObject({ code: 'STALE_RUN' })
    const [one, two] = [await probe.grants.take(), await probe.grants.take()]
    await probe.call<'complete'>({ op: 'complete', seq: one.seq, run: one.run, output: '1' })
    await probe.call<'fail'>({ op: 'fail', seq: two.seq, run: two.run, error: { name: 'E', message: 'm' }, retry: false })
    const second = await probe.grants.take()
    expect(second).toMatchObject({ seq, run: 2, attempt: 1, joined: [{ name: 'pages', place: 1, jobs: 2 }] })
    await probe.call<'join'>({ op: 'join', seq, run: 2, name: 'index', jobs: [child] })
    const third = await probe.grants.take()
    await probe.call<'complete'>({ op: 'complete', seq: third.seq, run: third.run, output: '3' })
    const last = await probe.grants.take()
    expect(last.joined).toEqual([
      { name: 'pages', place: 1, jobs: 2 },
      { name: 'index', place: 3, jobs: 1 },
    ])
    const of = (after: number, until?: number) =>
      probe.call<'parents'>({ op: 'parents', seq, run: 3, after, ...(until !== undefined && { until }) })
    expect(await of(0)).toEqual({ parents: [], next: null })
    expect((await of(0, 2)).parents).toMatchObject([
      { seq: one.seq, ref: 'pages/0', state: 'completed', output: '1' },
      { seq: two.seq, ref: 'pages/1', state: 'failed', error: { name: 'E' } },
    ])
    const { parents, next } = await of(2, 99)
    expect([next, parents]).toMatchObject([null, [{ seq: third.seq, enqueuedAt: third.enqueuedAt, node: third.node, ref: 'index/0' }]])
  })

  test('flows: a tree is cancelled and retried as a whole, and nothing beside it', async () => {
    const job = { name: 'a', data: null }
    const nodes = [[], [0], [1], []].map((parents, index) => ({ ref: `${index}`, job, parents, onFailure: 'fail' as const }))
    const first = await probe.call<'flow'>({ op: 'flow', nodes, idempotencyKey: 'k' })
    expect(await probe.call<'flow'>({ op: 'flow', nodes, idempotencyKey: 'k' })).toEqual({ ...first, created: false })
    const key = (place: number): JobKey => ({ ...first, seq: first.seq + place })
    const states = async () => Promise.all([0, 1, 2, 3].map((place) => stateOf(key(place))))
    await expect(probe.call<'runNow'>({ op: 'runNow', id: key(1) })).rejects.toMatchObject({ code: 'JOB_BLOCKED' })
    expect(await probe.call<'cancelTree'>({ op: 'cancelTree', id: key(0) })).toBe('cancelled')
    expect(await probe.call<'watch'>({ op: 'watch', id: key(2) })).toEqual({ state: 'cancelled' })
    expect(await states()).toEqual(['cancelled', 'cancelled', 'cancelled', 'waiting'])
    expect(await probe.call<'cancelTree'>({ op: 'cancelTree', id: key(0) })).toBe('finished')
    await probe.call<'retryTree'>({ op: 'retryTree', id: key(0) })
    await probe.attach(['a'])
    for (let runs = 0; runs < 4; runs++) {
      const { seq, run } = await probe.grants.take()
      await probe.call<'complete'>({ op: 'complete', seq, run, output: null })
    }
    expect(await states()).toEqual(['completed', 'completed', 'completed', 'completed'])
  })

  test('flows: what is said of the cancel of a tree is said of all jobs that it cancels, and completed ones keep their output', async () => {
    const key = (place: number): JobKey => ({ ...first, seq: first.seq + place })
    const job = { name: 'a', data: '0' }
    const first = await probe.call<'flow'>({
      op: 'flow',
      nodes: [
        { ref: 'top', job, parents: [], onFailure: 'fail' },
        { ref: 'middle', job, parents: [0], onFailure: 'fail' },
        { ref: 'open', job: { ...job, name: 'b' }, parents: [], onFailure: 'fail' },
        { ref: 'below', job, parents: [1, 2], onFailure: 'fail' },
      ],
    })
    await probe.attach(['a'])
    for (const output of ['"top"', '"middle"']) {
      const { seq, run } = await probe.grants.take()
      await probe.call<'complete'>({ op: 'complete', seq, run, output })
    }
    const said = { reason: 'wrong file', by: 'ada' }
    expect(await probe.call<'cancelTree'>({ op: 'cancelTree', id: first, ...said })).toBe('finished')
    expect(await probe.call<'watch'>({ op: 'watch', id: key(3) })).toEqual({ state: 'cancelled', ...said })
    const views = await Promise.all([0, 1, 2, 3].map((place) => probe.call<'get'>({ op: 'get', id: key(place) })))
    expect(views.map((view) => [view?.state, view?.data, view?.output, view?.cancellation])).toEqual([
      ['completed', '0', '"top"', undefined],
      ['completed', '0', '"middle"', undefined],
      ['waiting', '0', null, undefined],
      ['cancelled', '0', null, said],
    ])
  })

  test('flows: one is read by the id of any of its jobs, a page at a time, with what each was told of those that it waits for', async () => {
    const job = { name: 'a', data: 'payload' }
    const flow = (nodes: readonly (readonly number[])[]) =>
      probe.call<'flow'>({
        op: 'flow',
        nodes: nodes.map((parents, index) => ({ ref: `n${index}`, job, parents, onFailure: 'ignore' })),
      })
    const before = await flow([[], [0]])
    const { created: _created, ...first } = await flow([[], [], [1, 0], [2]])
    await flow([[], [0]])
    const plain = await probe.enqueue('a')
    const key = (place: number): JobKey => ({ ...first, seq: first.seq + place })
    const page = await probe.call<'getFlow'>({ op: 'getFlow', id: key(3), limit: 3 })
    expect(page).toMatchObject({ first, next: { seq: key(3).seq, place: 0 } })
    expect(page?.jobs.map(({ seq, ref, state }) => [seq, ref, state])).toEqual([
      [key(0).seq, 'n0', 'waiting'],
      [key(1).seq, 'n1', 'waiting'],
      [key(2).seq, 'n2', 'blocked'],
    ])
    await probe.call<'cancel'>({ op: 'cancel', id: key(1) })
    expect(await stateOf(key(1))).toBe('cancelled')
    const rest = await probe.call<'getFlow'>({ op: 'getFlow', id: key(0), limit: 3, from: { seq: key(2).seq, place: 0 } })
    expect(rest).toEqual({
      first,
      jobs: [
        {
          ...{ seq: key(2).seq, ref: 'n2', name: 'a', queue: 'default', state: 'blocked', attempt: 0, onParentFailure: 'ignore' },
          ...{ runAt: expect.any(Number), startedAt: 0, finishedAt: 0, parents: 2 },
          dependsOn: [
            { seq: key(1).seq, ref: 'n1', told: 'cancelled' },
            { seq: key(0).seq, ref: 'n0', told: null },
          ],
        },
        expect.objectContaining({ ref: 'n3', dependsOn: [{ seq: key(2).seq, ref: 'n2', told: null }] }),
      ],
      next: null,
      states: { ...NO_JOBS, waiting: 1, blocked: 2, cancelled: 1 },
    })
    const beside = await probe.call<'getFlow'>({ op: 'getFlow', id: before, limit: 200 })
    expect(beside?.jobs.map(({ state }) => state)).toEqual(['waiting', 'blocked'])
    for (const id of [plain, { ...first, enqueuedAt: 1 }, { ...first, seq: 1_000_000 }])
      expect(await probe.call<'getFlow'>({ op: 'getFlow', id, limit: 1 })).toBeNull()
  })

  test('flows: they are listed newest first, by state, a page at a time', async () => {
    const flow = async (queue: string) => {
      const nodes = [[], [0]].map((parents, index) => {
        return { ref: `n${index}`, job: { name: 'a', data: 'payload', queue }, parents, onFailure: 'fail' as const }
      })
      const { created: _, ...first } = await probe.call<'flow'>({ op: 'flow', nodes })
      return first
    }
    const [one, two, three] = [await flow('q'), await flow('q'), await flow('r')]
    await probe.enqueue('a')
    await probe.call<'cancel'>({ op: 'cancel', id: two })
    expect(await probe.call<'watch'>({ op: 'watch', id: { ...two, seq: two.seq + 1 } })).toMatchObject({ state: 'failed' })
    // A page may end early: a turn has little time.
    const list = async (command: Partial<CommandOf<'listFlows'>> = {}) => {
      const flows: ReplyOf['listFlows']['flows'][number][] = []
      for (let before = command.before; ; ) {
        const page = await probe.call<'listFlows'>({ op: 'listFlows', limit: 2, ...command, ...(before !== undefined && { before }) })
        expect(page.flows.length).toBeLessThanOrEqual(2)
        flows.push(...page.flows)
        if (page.next === null) return flows
        before = page.next
      }
    }
    const running = { name: 'a', state: 'running', states: { ...NO_JOBS, waiting: 1, blocked: 1 }, finishedAt: 0 }
    const failed = {
      name: 'a',
      queue: 'q',
      state: 'failed',
      states: { ...NO_JOBS, failed: 1, cancelled: 1 },
      finishedAt: expect.any(Number),
    }
    const flows = await list()
    expect(flows).toEqual([
      { ...three, queue: 'r', ...running },
      { ...two, ...failed },
      { ...one, queue: 'q', ...running },
    ])
    expect(await list({ before: two.seq })).toEqual([flows[2]])
    expect(await list({ state: 'failed' })).toEqual([flows[1]])
    expect(await list({ state: 'completed' })).toEqual([])
  })
}
