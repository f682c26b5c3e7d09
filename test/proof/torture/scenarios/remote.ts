/**
 * kill -9 of the server, and of workers that reach it by its socket, again and again under load; then all that is left is done. What
 * was acknowledged is there once, and completed; no run is handed out twice.
 */
import { join } from 'node:path'
import { connect } from '@millrace/remote'
import { seededRandom } from '@millrace/testkit/internal'
import { auditFile } from '../../../../packages/sqlite/src/testing/inspect.ts'
import { quick } from '../../../remote/programs/jobs.ts'
import { Child } from '../child.ts'
import { insist } from '../insist.ts'
import { type Scenario, Tally } from '../scenario.ts'

const SERVER = new URL('../../../remote/programs/server.ts', import.meta.url)
const WORKER = new URL('../../../remote/programs/worker.ts', import.meta.url)
const PRODUCERS = 20
const WORKERS = 3

export const serverKills: Scenario = async ({ seed, folder, size }) => {
  const random = seededRandom(seed)
  const tally = new Tally()
  const [file, socket] = [join(folder, 'jobs.db'), join(folder, 'sock')]
  const heard: string[] = []
  const take = async (child: Child) => {
    await child.kill()
    heard.push(...child.lines)
    tally.kills++
    tally.cycles++
  }
  await using children = new AsyncDisposableStack()
  const start = async (url: URL, args: readonly string[], line: RegExp) => {
    const child = children.use(new Child(url, args))
    await child.said(line)
    return child
  }
  const startServer = () => start(SERVER, [file, socket], /^listening$/)
  let workersStarted = 0
  const startWorker = () => start(WORKER, [socket, `worker-${++workersStarted}`], /^working$/)

  let server = await startServer()
  const workers = await Promise.all(Array.from({ length: WORKERS }, startWorker))
  const engine = await connect(`unix:${socket}`, { connectTimeout: '30s' })
  let next = 0
  let stopping = false
  let more = () => {}
  const acknowledged = new Set<string>()
  const produce = async () => {
    while (!stopping) {
      const number = next++
      const { id } = await insist(() => engine.enqueue(quick, number, { idempotencyKey: `key ${number}` }))
      acknowledged.add(id)
      more()
    }
  }
  const producing = Promise.all(Array.from({ length: PRODUCERS }, produce))
  const acknowledgedMore = async (count: number) => {
    const enough = acknowledged.size + count
    while (acknowledged.size < enough) {
      const another = new Promise<void>((resolve) => {
        more = resolve
      })
      // Where a producer has given up, that is what is to be told.
      await Promise.race([another, producing])
    }
  }
  let serversKilled = 0
  for (let kill = 0; kill < (size === 'slice' ? 6 : 60); kill++) {
    await acknowledgedMore(50 + Math.floor(random() * 500))
    if (random() < 0.6) {
      serversKilled++
      await take(server)
      server = await startServer()
    } else {
      const [killed] = workers.splice(Math.floor(random() * workers.length), 1) as [Child]
      await take(killed)
      workers.push(await startWorker())
    }
  }
  stopping = true
  await producing
  await allDone(engine)
  await engine.stop()
  for (const worker of workers) {
    await worker.kill()
    heard.push(...worker.lines)
  }
  server.process.stdin.end()
  const { code, stderr } = await server.ended
  tally.expect(code === 0, '27', `the server does not end well: ${code} ${stderr}`)

  const { problems, jobs } = auditFile(file)
  for (const problem of problems) tally.violations.push(`7: ${problem}`)
  tally.acknowledged = acknowledged.size
  tally.lost = acknowledged.size - jobs.filter(({ state }) => state === 'completed').length
  tally.expect(jobs.length === next && acknowledged.size === next, '1, 25', `${next} keys, ${acknowledged.size} ids, ${jobs.length} jobs`)
  tally.expect(tally.lost === 0, '1, 2, 20', `${tally.lost} jobs were acknowledged, and are not completed`)
  const runs = heard.filter((line) => line.startsWith('quick '))
  tally.expect(new Set(runs).size === runs.length, '10', 'a run is handed out twice')
  tally.expect(new Set(runs.map((line) => line.split(' ')[1])).size === next, '2', 'a job is completed that nobody ran')
  tally.facts.push(`${serversKilled} servers and ${tally.kills - serversKilled} workers killed, ${runs.length} runs of ${next} jobs`)
  return tally
}

/** Resolves once no job has anything left to do. */
async function allDone(engine: Awaited<ReturnType<typeof connect>>): Promise<void> {
  let wake = () => {}
  engine.on('completed', () => wake())
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    const { waiting, scheduled, active } = (await insist(() => engine.stats())).states
    if (waiting + scheduled + active === 0) return
    await changed
  }
}
