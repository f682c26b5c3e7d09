// An engine that stops with its process. One job runs until the test writes a line; `node stopping.ts FOLDER CASE`.
import { once } from 'node:events'
import { join } from 'node:path'
import { defineJob, openEngine, stopOnSignals } from '@millrace/engine'

const [folder = '', name = ''] = process.argv.slice(2)
const engine = await openEngine({ file: join(folder, 'jobs.db') })
const print = (line: string) => void process.stdout.write(`${line}\n`)

switch (name) {
  case 'before':
    stopOnSignals(engine, { before: () => Promise.reject(new Error('the server did not close')) })
    break
  case 'own':
    stopOnSignals(engine)
    process.once('SIGTERM', () => engine.stop().then(() => process.exit(7)))
    break
  case 'two': {
    stopOnSignals(engine)
    const other = await openEngine({ file: join(folder, 'other.db') })
    stopOnSignals(other, { before: () => print('the other stops') })
    break
  }
  case 'late':
    stopOnSignals(engine, { timeout: 0 })
    break
  default:
    stopOnSignals(engine)
}

const long = defineJob({ name: 'long' })
await engine.enqueue(long)
engine.work(
  long.handler(async ({ signal }) => {
    print('running')
    await Promise.race([once(process.stdin, 'data'), once(signal, 'abort')])
    signal.throwIfAborted()
    print('done')
  }),
)
