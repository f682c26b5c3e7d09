/**
 * Three customers, one of whom has a hundred jobs: each gets its turn, no one more than two at a time, and all together not more than four.
 * Then the events of two accounts, each in strict order, though one of them has to be tried again; and a queue that keeps the newest alone.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'

const send = defineJob<{ customer: string; number: number }>({ name: 'send', queue: 'mail' })

const folder = mkdtempSync(join(tmpdir(), 'millrace-limits-'))
const engine = await openEngine({ file: join(folder, 'jobs.db') })
await engine.queues.configure('mail', { concurrencyLimit: 4, perKeyLimit: 2 })

const jobs = [...Array(100).fill('greedy'), 'modest', 'small', 'modest', 'small']
const handles = await engine.enqueueMany(
  jobs.map((customer, number) => ({ job: send, data: { customer, number }, options: { concurrencyKey: customer } })),
)

const running = new Map<string, number>()
const order: string[] = []
let mostTogether = 0
let mostOfOne = 0
engine.work(
  send.handler(async ({ data: { customer } }) => {
    order.push(customer)
    running.set(customer, (running.get(customer) ?? 0) + 1)
    mostOfOne = Math.max(mostOfOne, ...running.values())
    mostTogether = Math.max(
      mostTogether,
      [...running.values()].reduce((sum, count) => sum + count, 0),
    )
    await new Promise((resolve) => setTimeout(resolve, 2))
    running.set(customer, (running.get(customer) ?? 0) - 1)
  }),
  { concurrency: 50 },
)
await Promise.all(handles.map((handle) => handle.result({ timeout: '1m' })))

console.log(
  `the last of the modest and the small was number ${Math.max(order.lastIndexOf('modest'), order.lastIndexOf('small')) + 1} of ${order.length} to start`,
)
console.log(`at most ${mostTogether} ran together, and ${mostOfOne} of one customer`)
const { settings, states } = (await engine.queues.get('mail')) ?? { settings: {}, states: undefined }
console.log(`the queue is told ${JSON.stringify(settings)}; ${states?.completed} jobs are completed`)

const apply = defineJob<{ account: string; number: number }>({
  name: 'apply',
  queue: 'accounts',
  maxAttempts: 3,
  backoff: { type: 'fixed', delay: 20 },
})
await engine.queues.configure('accounts', { keyOrder: 'strict' })
const applied: string[] = []
engine.work(
  apply.handler(async ({ data: { account, number }, job: { attempt } }) => {
    if (account === 'ann' && number === 1 && attempt === 1) throw new Error('the bank does not answer')
    applied.push(`${account} ${number}`)
  }),
  { concurrency: 50 },
)
const events = [0, 1, 2, 3].flatMap((number) => ['ann', 'bob'].map((account) => ({ account, number })))
const entries = await engine.enqueueMany(events.map((data) => ({ job: apply, data, options: { concurrencyKey: data.account } })))
await Promise.all(entries.map((handle) => handle.result({ timeout: '1m' })))
for (const account of ['ann', 'bob']) console.log(`${account}: ${applied.filter((event) => event.startsWith(account)).join(', ')}`)

await engine.queues.configure('positions', { maxLength: 2, onFull: 'drop-oldest' })
const positions = []
for (const at of [1, 2, 3, 4]) positions.push(await engine.enqueue('draw', { at }, { queue: 'positions' }))
const [oldest] = positions
console.log(`the oldest position: ${await oldest?.result().catch((error) => `${error.code}, ${error.cause.name}`)}`)
const drawn: number[] = []
engine.work(defineJob<{ at: number }>({ name: 'draw' }).handler(({ data }) => void drawn.push(data.at)))
await Promise.all(positions.slice(2).map((handle) => handle.result({ timeout: '1m' })))
console.log(`drawn: ${drawn.join(', ')}`)

await engine.stop()
rmSync(folder, { recursive: true })
