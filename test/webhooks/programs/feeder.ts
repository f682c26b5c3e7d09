/**
 * Enqueues jobs, tells the id of each that is committed, and feeds an endpoint: `feeder.ts FOLDER URL COUNT [STEP TIMES]`. Dies by
 * kill -9 when it comes to the step for the so-manieth time: `saving`, when the deliveries are committed and the cursor is not saved, or
 * `saved`, right behind that. Else it ends with its input,
 * when all that it has fed is delivered.
 */
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { type EndpointChange, EventWebhooks, webhookHandler } from '@millrace/webhooks'
import Database from 'better-sqlite3'
import { EndpointTable } from '../../../apps/examples/webhooks/endpointTable.ts'

const [folder = '', url = '', count = '', chosen, times = '0'] = process.argv.slice(2)
let left = Number(times)

class DyingTable extends EndpointTable {
  override async update(changes: readonly EndpointChange[]): Promise<void> {
    const isChosen = chosen !== undefined && --left === 0
    if (isChosen && chosen === 'saving') process.kill(process.pid, 'SIGKILL')
    await super.update(changes)
    if (isChosen) process.kill(process.pid, 'SIGKILL')
  }
}

const engine = await openEngine({ file: join(folder, 'jobs.db'), waitForOwner: '10s' })
const endpoints = new DyingTable(new Database(join(folder, 'app.db')))
const events = new EventWebhooks(engine, { endpoints })
if ((await endpoints.list()).length === 0) await events.add({ id: 'one', url, events: ['enqueued'], names: ['unserved'] })
events.start()
const worker = engine.work([webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any' })])
process.stdout.write('feeding\n')

// Until it is killed, where it is to die.
for (let made = 0; chosen !== undefined || made < Number(count); made++) {
  const { id } = await engine.enqueue('unserved')
  process.stdout.write(`${id}\n`)
}
process.stdin.on('end', async () => {
  await events.stop()
  await engine.queues.drain('webhooks')
  await worker.stop()
  await engine.stop()
})
process.stdin.resume()
