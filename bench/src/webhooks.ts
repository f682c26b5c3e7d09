/**
 * `pnpm bench:webhooks [DELIVERIES]`: signed webhooks that wait in a queue, until the last is delivered to a server on this machine (a
 * process of its own) and its completion is committed. Beside them what the same requests take without a queue, and what mininq starts in
 * a second by default: 2 for each queue.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEngine } from '@millrace/engine'
import { webhookHandler, webhookJob } from '@millrace/webhooks'
import { payloadOf } from './payload.ts'
import { median } from './quantile.ts'
import { markdown } from './table.ts'

const MININQ_PER_SECOND = 2
const PER_HOST = [5, 50] as const
const REPETITIONS = 3
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

if (process.argv[2] === 'receive') receive()
else await compare()

/** Answers all with 200, once it has read them. */
function receive(): void {
  const server = createServer((request, response) => request.resume().on('end', () => response.end('ok'))).listen(0, '127.0.0.1')
  server.on('listening', () => process.send?.(server.address()))
  process.on('disconnect', () => process.exit())
}

async function compare(): Promise<void> {
  const deliveries = Number(process.argv[2] ?? 10_000)
  if (!Number.isInteger(deliveries) || deliveries < 1) throw new RangeError(`DELIVERIES is a whole number from 1, not ${process.argv[2]}`)
  const receiver = fork(fileURLToPath(import.meta.url), ['receive'])
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
  const url = `http://127.0.0.1:${port}/hook`
  const rows: string[][] = []
  for (const perHost of PER_HOST) {
    const rates: { readonly bare: number; readonly queued: number }[] = []
    for (let repetition = 0; repetition < REPETITIONS; repetition++)
      rates.push({ bare: await bare(url, deliveries, perHost), queued: await queued(url, deliveries, perHost) })
    const queuedRate = median(rates.map((rate) => rate.queued))
    const shown = [queuedRate, median(rates.map((rate) => rate.bare)), MININQ_PER_SECOND, queuedRate / MININQ_PER_SECOND]
    rows.push([String(perHost), ...shown.map((rate) => Math.round(rate).toLocaleString('en-US'))])
  }
  receiver.disconnect()
  process.stdout.write(`${markdown(['requests at a time', 'webhooks/s', 'fetch alone/s', 'mininq by default/s', 'times mininq'], rows)}\n`)
}

async function bare(url: string, deliveries: number, atATime: number): Promise<number> {
  let left = deliveries
  const began = performance.now()
  const lane = async () => {
    while (left-- > 0) {
      const body = JSON.stringify(payloadOf(left))
      const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      await response.text()
    }
  }
  await Promise.all(Array.from({ length: atATime }, lane))
  return perSecond(deliveries, began)
}

async function queued(url: string, deliveries: number, perHost: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const engine = await openEngine({ file: join(folder, 'jobs.db'), durability: 'normal' })
  const jobs = Array.from({ length: deliveries }, (_, index) => ({
    job: webhookJob,
    data: { url, body: payloadOf(index), secret: 'bench' },
    options: { queue: 'webhooks' },
  }))
  await engine.enqueueMany(jobs[Symbol.iterator]())
  const began = performance.now()
  const options = { secrets: { bench: { keys: SECRET, hosts: '*' } }, allowPrivate: true, allowHttp: true, ports: 'any', perHost } as const
  const worker = engine.work([webhookHandler(options)], { concurrency: perHost * 2 })
  await engine.queues.drain('webhooks')
  const rate = perSecond(deliveries, began)
  const { states } = await engine.stats()
  if (states.completed !== deliveries) throw new Error(`${states.completed} of ${deliveries} webhooks were delivered`)
  await worker.stop()
  await engine.stop()
  rmSync(folder, { recursive: true })
  return rate
}

function perSecond(count: number, began: number): number {
  return count / ((performance.now() - began) / 1_000)
}
