/**
 * An engine on a file, served over TLS with a token: `tlsServer.ts FILE HOST TOKEN CERTIFICATES`. Its input has an order in each line:
 * `enqueue NAME`, or `work NAME`, by a worker of its own that is done at once. It tells of every event.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { jobs, tell } from './leases.ts'

const [file = '', host = '', token = '', certificates = ''] = process.argv.slice(2)
const pem = (name: string) => readFileSync(join(certificates, name))
const engine = await openEngine({ file, durability: 'normal' })
const server = await listen(engine, `tls://${host}:0`, { token, tls: { key: pem('server.key'), cert: pem('server.crt') } })
engine.on('*', (event) => 'run' in event && tell(`${event.type} ${event.name} ${event.run}`))
await engine.stats()
process.stdout.write(`${server.url}\n`)

for await (const line of createInterface({ input: process.stdin })) {
  const [order, name] = line.split(' ')
  const job = jobs.find((each) => each.name === name)
  if (job === undefined) continue
  if (order === 'enqueue') await engine.enqueue(job)
  else engine.work(job.handler(() => 'here'))
}
