/** Erasing one person by tag: nothing of theirs is left in the file, and with `secureDelete` not in its bytes either. */
import { existsSync, readFileSync } from 'node:fs'
import { defineJob, openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { tableRows } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile } from '../temporary.ts'

const TABLES = ['job', 'attempt', 'log', 'tag', 'idempotency', 'unique_key', 'journal', 'session', 'definition', 'lane', 'queue'] as const
const PERSON = 'Ada-Lovelace'
const OTHER = 'Blaise-Pascal'

const mail = defineJob<{ to: string }>({ name: 'mail', maxAttempts: 2, backoff: { type: 'fixed', delay: 1 } })

/** Jobs of two people, in every state that leaves something. */
async function work(file: string, secureDelete: boolean) {
  const engine = await openEngine({ file, durability: 'normal', secureDelete })
  const optionsOf = (who: string, n: number) => ({
    tags: [`person:${who}`],
    meta: { who },
    idempotencyKey: `${who}-${n}`,
    unique: { key: `${who}-unique-${n}`, onConflict: 'skip' as const },
  })
  engine.work([
    mail.handler(async ({ data, log, checkpoint, progress }) => {
      log('info', `to ${data.to}`, { to: data.to })
      await checkpoint({ half: data.to })
      progress(0.5, data.to)
      if (data.to.endsWith('!')) throw new Error(`cannot reach ${data.to}`)
      return { sent: data.to }
    }),
  ])
  for (const who of [PERSON, OTHER]) {
    const done = await engine.enqueue(mail, { to: who }, optionsOf(who, 1))
    const failed = await engine.enqueue(mail, { to: `${who}!` }, optionsOf(who, 2))
    await engine.enqueue(mail, { to: who }, { ...optionsOf(who, 3), delay: '1d' })
    // Met through the unique key of the one before: the idempotency key names that.
    await engine.enqueue(mail, { to: who }, { ...optionsOf(who, 3), idempotencyKey: `${who}-met` })
    await engine.enqueue('elsewhere', { to: who }, { tags: [`person:${who}`] })
    await done.result()
    await failed.result().catch(() => {})
  }
  return engine
}

function contentOf(file: string): string {
  return TABLES.map((table) =>
    JSON.stringify(tableRows(file, table), (_key, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value)),
  ).join('\n')
}

test.each([true, false])('secureDelete %s', async (secureDelete) => {
  const file = temporaryFile()
  const engine = await work(file, secureDelete)
  const tag = `person:${PERSON}`
  const dry = await engine.deleteMany({ tag }, { dryRun: true })
  expect(dry).toEqual({ matched: 4, changed: 4, skipped: {} })
  expect(await engine.deleteMany({ tag })).toEqual(dry)
  expect(await engine.deleteMany({ tag })).toEqual({ matched: 0, changed: 0, skipped: {} })
  expect((await engine.list({ tag })).jobs).toEqual([])
  expect((await engine.list({ tag: `person:${OTHER}` })).jobs).toHaveLength(4)
  await engine.stop()
  expect(existsSync(`${file}-wal`)).toBe(false)
  const bytes = readFileSync(file)
  const content = contentOf(file)
  expect(content).not.toContain(PERSON)
  // A bystander with all that the other has lost.
  for (const table of ['job', 'attempt', 'log', 'tag', 'idempotency', 'unique_key'])
    expect(JSON.stringify(tableRows(file, table)), table).toContain(OTHER)
  expect(bytes.includes(OTHER)).toBe(true)
  if (secureDelete) expect(bytes.includes(PERSON)).toBe(false)
})
