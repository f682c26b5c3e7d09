// Another copy of SQLite in the process of an engine: its close takes the log away, whatever it has done, as locks do not keep a process from itself.
import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'

test.each(['SELECT count(*) FROM job', 'CREATE TABLE own (x); INSERT INTO own VALUES (1)', 'VACUUM'])(
  '%s, and a close: nothing more is acknowledged, and all that was is in the file, beside what the other has written',
  async (sql) => {
    const file = temporaryFile()
    const engine = await openEngine({ file })
    const bystanders = await engine.enqueueMany(Array.from({ length: 50 }, (_, n) => ({ job: 'bystander', data: n })))
    const other = new DatabaseSync(file)
    other.exec(sql)
    other.close()
    await expect(engine.enqueue('late')).rejects.toMatchObject({
      code: 'COMMIT_UNKNOWN',
      message: expect.stringContaining('jobs.db-wal was'),
    })
    await expect(engine.enqueue('later')).rejects.toMatchObject({ code: 'OWNER_LOST', message: expect.stringContaining('another library') })
    await engine.stop()

    const read = new DatabaseSync(file)
    expect(read.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    if (sql.startsWith('CREATE')) expect(read.prepare('SELECT x FROM own').get()).toEqual({ x: 1 })
    read.close()
    await using again = await openEngine({ file })
    for (const { id } of bystanders) expect(await again.get(id)).toMatchObject({ name: 'bystander', state: 'waiting' })
    await again.enqueue('goes-on')
  },
)

test.each(['closes', 'stays'])(
  'one that writes after the log has gone, and %s: nothing more is acknowledged, and both have what they had',
  async (how) => {
    const file = temporaryFile()
    const engine = await openEngine({ file })
    const bystanders = await engine.enqueueMany(Array.from({ length: 50 }, (_, n) => ({ job: 'bystander', data: n })))
    const reader = new DatabaseSync(file)
    reader.exec('SELECT count(*) FROM job')
    reader.close()
    const writer = new DatabaseSync(file)
    writer.exec('CREATE TABLE own (x)')
    for (let row = 0; row < 200; row++) writer.exec(`INSERT INTO own VALUES ('${'x'.repeat(2_000)}')`)
    if (how === 'closes') writer.close()
    await expect(engine.enqueue('late')).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    await engine.stop()
    if (how === 'stays') writer.close()

    const read = new DatabaseSync(file)
    expect(read.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    expect(read.prepare('SELECT count(*) AS rows FROM own').get()).toEqual({ rows: 200 })
    read.close()
    await using again = await openEngine({ file })
    for (const { id } of bystanders) expect(await again.get(id)).toMatchObject({ name: 'bystander', state: 'waiting' })
  },
)

test('an engine that shares its file ends as well: what has the name of the file now may lack jobs', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file, share: true, logger: false })
  onTestFinished(() => engine.stop())
  await engine.enqueue('first')
  for (const ending of ['-wal', '-shm']) rmSync(`${file}${ending}`)
  const writer = new DatabaseSync(file)
  writer.exec('CREATE TABLE own (x)')
  writer.close()
  await expect(engine.enqueue('late')).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  const lost = { code: 'OWNER_LOST', path: file, message: expect.stringContaining('saved-') }
  await expect(engine.enqueue('later')).rejects.toMatchObject(lost)
  await expect(engine.list()).rejects.toMatchObject(lost)
})
