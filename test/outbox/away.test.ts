// An outbox whose engine is on the other side of a socket that has gone.
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { outbox } from '@millrace/outbox'
import { connect, listen } from '@millrace/remote'
import Database from 'better-sqlite3'
import { onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

test('flush does not wait for a server that is away', async () => {
  const folder = temporaryFolder()
  const url = `unix:${join(folder, 's')}`
  const owner = await openEngine({ file: ':memory:' })
  const server = await listen(owner, url)
  const engine = await connect(url)
  const app = new Database(join(folder, 'app.db'))
  const box = outbox(app, { engine, createTable: true })
  onTestFinished(async () => {
    await box.close()
    await engine.stop()
    await owner.stop()
    app.close()
  })
  await box.flush()
  await server.close()
  box.transaction((tx) => box.enqueue(tx, 'a', 1))
  await box.flush()
})
