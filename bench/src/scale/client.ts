/** Enqueues and runs jobs as a client of the owner of a schema: begins when it is told to, and runs jobs of all clients until it is killed. */
import { once } from 'node:events'
import { openEngine } from '@millrace/engine'
import { noop } from '../jobs.ts'
import { IN_FLIGHT, produce } from './jobs.ts'

const [address, jobs, clients] = process.argv.slice(2) as [string, string, string]
const inFlight = Math.ceil(IN_FLIGHT / Number(clients))
const engine = await openEngine({ postgres: address, role: 'client', logger: false })
engine.work(
  noop.handler(() => {}),
  { concurrency: inFlight },
)
process.stdout.write('attached\n')
await once(process.stdin, 'data')
await produce(engine, Number(jobs), inFlight)
