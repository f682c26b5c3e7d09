/**
 * A shop that tells others, and one that is told: `node main.ts FOLDER`. A signed webhook whose receiver is busy at first, and an endpoint
 * that hears of each order that is shipped.
 */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { EventWebhooks, verify, webhookHandler, webhookJob } from '@millrace/webhooks'
import Database from 'better-sqlite3'
import { EndpointTable } from './endpointTable.ts'

const [folder = 'webhooks'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
// Of the deployment's own keeping: `whsec_` and the base64 of 24 to 64 random bytes. Both ends have it.
const secret = process.env['SHOP_SECRET'] ?? 'whsec_bWlsbHJhY2UgZXhhbXBsZSwgbm8gc2VjcmV0ISE='
const partner = process.env['PARTNER_SECRET'] ?? 'whsec_bWlsbHJhY2UsIHRoZSBwYXJ0bmVyJ3MsIG5vbmUh'

// Who is told. It checks the signature over the bytes as they came, and is busy when it is asked first.
let asked = 0
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  try {
    verify({ headers: request.headers, body, secret: [secret, partner] })
  } catch {
    response.writeHead(401).end('not signed by the shop')
    return
  }
  if (++asked === 1) {
    response.writeHead(503, { 'retry-after': '1' }).end('busy')
    return
  }
  const { type, data, hello } = JSON.parse(body.toString())
  console.log(hello === undefined ? `told: ${type} ${data.name}` : `told: hello ${hello} (attempt ${request.headers['millrace-attempt']})`)
  response.end('thanks')
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`

// Anybody may find the address, and not sign what they send.
const stranger = await fetch(url, { method: 'POST', body: '{}' })
console.log(`a stranger: ${stranger.status}`)

// The shop. allowPrivate and allowHttp, since the receiver is on this machine: leave them out for URLs that others give you.
const engine = await openEngine({ file: join(folder, 'jobs.db') })
const ship = defineJob<{ order: number }>({ name: 'ship' })
// The one signs jobs, to its hosts alone; the other, which has none, signs what an endpoint is told.
const secrets = { shop: { keys: secret, hosts: ['127.0.0.1'] }, partner }
const worker = engine.work([
  webhookHandler({ secrets, allowPrivate: true, allowHttp: true, ports: 'any' }),
  ship.handler(({ data }) => `order ${data.order} is on its way`),
])

const hello = await engine.enqueue(webhookJob, { url, body: { hello: 'world' }, secret: 'shop' })
const { status } = await hello.result()
console.log(`delivered: ${status}`)

const shop = new Database(join(folder, 'shop.db'))
await using events = new EventWebhooks(engine, { endpoints: new EndpointTable(shop), secrets })
events.start()
await events.add({ id: 'partner', url, secret: 'partner', events: ['completed'], names: ['ship'] })
const delivered = untilDelivered(2)
await engine.enqueueMany([1, 2].map((order) => ({ job: ship, data: { order } })))
await delivered

await events.stop()
await worker.stop()
await engine.stop()
shop.close()
receiver.close()
receiver.closeAllConnections()

function untilDelivered(count: number): Promise<void> {
  let left = count
  return new Promise((resolve) => {
    engine.on('completed', ({ queue }) => {
      if (queue === 'webhooks' && --left === 0) resolve()
    })
  })
}
