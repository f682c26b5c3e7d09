// kill -9 of the owner under load, again and again on one file: what was acknowledged is true ever after, and nothing is lost.
import { formatId } from '@millrace/core'
import { type Engine, openEngine } from '@millrace/engine'
import { seededRandom } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { auditFile } from '../../../packages/sqlite/src/testing/inspect.ts'
import { startProgram } from '../../program.ts'
import { temporaryFile } from '../../temporary.ts'
import { History } from './history.ts'
import { handlersFor, jobs } from './programs/jobs.ts'

const CYCLES = 15
/** Of the moments of the kills, as far as they can be told. */
const SEED = Number(process.env['SEED'] ?? 1)
const TORTURE = new URL('./programs/torture.ts', import.meta.url)

/** Resolves once no job has anything left to do. */
async function drained(engine: Engine): Promise<void> {
  let wake = () => {}
  const listener = () => wake()
  engine.on('completed', listener)
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    const { waiting, scheduled, active } = (await engine.stats()).states
    if (waiting + scheduled + active === 0) break
    await changed
  }
  engine.off('completed', listener)
}

test.for(['full', 'normal'] as const)(
  `1, 2, 7, 10, 11, 25: ${CYCLES} kills under load, durability %s`,
  { timeout: 120_000 },
  async (durability) => {
    const random = seededRandom(SEED)
    const file = temporaryFile()
    const history = new History()
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const program = startProgram(TORTURE, [file, durability, String(cycle)])
      // Now and then while the file is being opened and its jobs are recovered.
      if (cycle % 5 === 3) await program.said(/^starting$/)
      else {
        await program.said(/^open$/)
        await program.saidLines(50 + Math.floor(random() * 3_000))
      }
      await program.kill()
      history.take(program.lines)
    }
    expect(history.violations).toEqual([])

    // What the next opening finds, before anything runs.
    await (await openEngine({ file })).stop()
    const found = auditFile(file)
    expect(found.problems).toEqual([])
    const byId = new Map(found.jobs.map((job) => [formatId(job), job]))
    const idsWhere = (wrong: (id: string) => boolean, ids: Iterable<string>) => [...ids].filter(wrong)
    expect(idsWhere((id) => !byId.has(id), history.enqueued)).toEqual([])
    expect(idsWhere((id) => byId.get(id)?.state !== history.ended.get(id), history.ended.keys())).toEqual([])
    expect(idsWhere((id) => (byId.get(id)?.run ?? 0) < (history.runs.get(id)?.run ?? 0), history.runs.keys())).toEqual([])

    // 20: left alone, everything comes to its end.
    const engine = await openEngine({ file, durability })
    engine.work([...handlersFor(({ id, run, attempt }) => history.started(id, run, attempt)), jobs.unserved.handler(() => {})])
    await drained(engine)
    await engine.stop()
    const last = auditFile(file)
    expect(last.problems).toEqual([])
    expect(history.violations).toEqual([])
    const states = new Set(last.jobs.map((job) => job.state))
    expect([...states].sort()).toEqual(['cancelled', 'completed'])
    expect(last.jobs.length).toBeGreaterThanOrEqual(found.jobs.length)
    for (const job of last.jobs) {
      const before = byId.get(formatId(job))
      if (before?.state === 'completed' || before?.state === 'cancelled') expect([job.state, job.run]).toEqual([before.state, before.run])
    }
    process.stdout.write(`kill -9, durability ${durability}: ${CYCLES} kills, ${last.jobs.length} jobs; ${history.summary}\n`)
  },
)
