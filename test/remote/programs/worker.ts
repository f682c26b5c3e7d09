/** A worker for `quick` and `long` jobs in a process of its own: `worker.ts SOCKET NAME`. A `long` one ends when it is aborted. */
import { connect } from '@millrace/remote'
import { long, quick } from './jobs.ts'

const [socket = '', name = ''] = process.argv.slice(2)
const say = (line: string) => process.stdout.write(`${line}\n`)
const engine = await connect(`unix:${socket}`, { connectTimeout: '30s' })
engine.work(
  [
    quick.handler(({ data, job: { run } }) => {
      say(`quick ${data} ${run}`)
      return name
    }),
    long.handler(async ({ job: { run }, signal }) => {
      say(`long ${run}`)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      say(`aborted ${run} ${(signal.reason as { code?: string }).code}`)
      return name
    }),
  ],
  { id: name, concurrency: 10 },
)
// Answered after the attach.
await engine.stats()
say('working')
