/** The server: owns the queue, lets workers attach, and serves HTTP. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { openEngine, stopOnSignals } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { FILE, QUEUE } from './address.ts'
import { createApp } from './app.ts'

const engine = await openEngine({ file: FILE, waitForOwner: '30s' })
await listen(engine, QUEUE)

const app = createApp(engine)
// At SIGTERM or Ctrl-C: no more requests, then the queue is closed. Workers connect again to the next server.
stopOnSignals(engine, {
  before: async () => {
    app.close()
    app.closeIdleConnections()
    await once(app, 'close')
  },
})

// Other machines reach it only by another address: set it when something in front checks who calls.
app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1')
await once(app, 'listening')
console.log(`http://127.0.0.1:${(app.address() as AddressInfo).port}`)
