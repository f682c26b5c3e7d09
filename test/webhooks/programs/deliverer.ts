/** Delivers the webhooks of a file: `deliverer.ts FILE`, until it is killed or its input ends; then when all is delivered. */
import { openEngine } from '@millrace/engine'
import { webhookHandler } from '@millrace/webhooks'

const [file = ''] = process.argv.slice(2)
const engine = await openEngine({ file, waitForOwner: '10s' })
const worker = engine.work([webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any', perHost: 8 })])
process.stdout.write('working\n')
process.stdin.on('end', async () => {
  await engine.queues.drain('webhooks')
  await worker.stop()
  await engine.stop()
})
process.stdin.resume()
