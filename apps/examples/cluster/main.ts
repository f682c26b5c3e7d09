/** Several processes on one file: `node main.ts FOLDER`. Whichever is first owns the file, and when it dies another one takes over. */
import cluster from 'node:cluster'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, openEngine, stopOnSignals } from '@millrace/engine'

const [folder = 'queue'] = process.argv.slice(2)
const PROCESSES = 3
const resize = defineJob<{ picture: number }, { by: number }>({ name: 'resize' })

if (cluster.isPrimary) {
  mkdirSync(folder, { recursive: true })
  for (let index = 0; index < PROCESSES; index++) cluster.fork()
  // A process that has died is replaced. Its jobs run again in the meantime.
  cluster.on('exit', (_, code) => code !== 0 && cluster.fork())
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
  })
} else {
  const engine = await openEngine({ file: join(folder, 'jobs.db'), share: true })
  engine.work(
    resize.handler(() => ({ by: process.pid })),
    { concurrency: 4 },
  )
  const { owner } = await engine.stats()
  console.log(`process ${process.pid} serves, owner ${owner?.pid}`)
  stopOnSignals(engine)
}
