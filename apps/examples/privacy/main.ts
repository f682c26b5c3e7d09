/** Encrypted jobs, a change of keys, logs without addresses, and one person's jobs erased. */
import { mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, type OpenOptions, openEngine, type Redact } from '@millrace/engine'
import { aesGcm } from './aesGcm.ts'

const folder = process.env['EXAMPLE_FOLDER'] ?? join(tmpdir(), 'millrace-example')
mkdirSync(folder, { recursive: true })
const file = join(folder, `private-${process.pid}.db`)

const mail = defineJob<{ to: string }>({ name: 'mail', maxAttempts: 1 })

/** From your secret store. These are made of nothing but their names. */
const key = (name: string) => Buffer.alloc(32, name)

const redact: Redact = ({ message, stack, fields }) => {
  const hide = (text: string) => text.replace(/\S+@\S+/g, '<address>')
  return {
    message: hide(message),
    ...(stack && { stack: hide(stack) }),
    ...(fields && { fields: JSON.parse(hide(JSON.stringify(fields))) }),
  }
}

const open = (ring: Parameters<typeof aesGcm>[0]) =>
  openEngine({ file, codec: aesGcm(ring), redact, secureDelete: true } satisfies OpenOptions)

// With the old key. Tags are not encrypted: a number in place of a name.
let engine = await open({ current: '2026-01', keys: { '2026-01': key('old') } })
const toAda = { tags: ['person:17'], idempotencyKey: 'welcome-17' }
await engine.enqueue(mail, { to: 'ada@example.org' }, toAda)
await engine.stop()

// The new key encrypts, the old one still reads.
engine = await open({ current: '2026-02', keys: { '2026-01': key('old'), '2026-02': key('new') } })
// Said again, it is the job from before.
const first = await engine.enqueue(mail, { to: 'ada@example.org' }, toAda)
const second = await engine.enqueue(mail, { to: 'blaise@example.org' }, { tags: ['person:18'] })
engine.work([
  mail.handler(({ data, log }) => {
    log('info', `writing to ${data.to}`)
    if (data.to.startsWith('blaise')) throw new Error(`${data.to} is full`)
    return `sent to ${data.to}`
  }),
])
console.log(await first.result())
await second.result().catch((error: Error) => console.log((error.cause as Error).message))
console.log((await engine.get(first.id))?.attempts[0]?.logs[0]?.message)

// What would go, and then what has gone.
console.log(await engine.deleteMany({ tag: 'person:17' }, { dryRun: true }))
await engine.deleteMany({ tag: 'person:17' })
console.log((await engine.list({ tag: 'person:17' })).jobs.length, 'left')
await engine.stop()

// Without the old key, what it has encrypted would fail. The file shows none of it.
console.log(/@example\.org|person:17/.test(readFileSync(file, 'latin1')) ? 'readable' : 'nothing to read')
