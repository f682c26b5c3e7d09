import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../testing/folder.ts'
import { RunLog } from './log.ts'

test('it has what was written, in that order, also where nobody waits', async () => {
  const path = join(temporaryFolder(), 'a.log')
  const log = await RunLog.open(path, 100_000)
  const pieces = Array.from({ length: 200 }, (_, number) => `${number}\n`)
  await Promise.all(pieces.map((piece) => log.write(Buffer.from(piece))))
  await log.close()
  expect(readFileSync(path, 'utf8')).toBe(pieces.join(''))
  expect([log.bytes, log.failure]).toEqual([pieces.join('').length, undefined])
})

test('it ends at its cap, and says so', async () => {
  const path = join(temporaryFolder(), 'a.log')
  const log = await RunLog.open(path, 10)
  await log.write(Buffer.from('123456'))
  await log.write(Buffer.from('7890ab'))
  await log.write(Buffer.from('c'))
  await log.close()
  expect(readFileSync(path, 'utf8')).toBe('1234567890\n[the log has its 10 bytes: what follows is not kept]\n')
  expect(log.bytes).toBe(10)
})

test('a log that cannot be written ends early, and whoever writes goes on', async () => {
  const path = join(temporaryFolder(), 'a.log')
  const log = await RunLog.open(path, 100)
  await log.close()
  await log.write(Buffer.from('x'))
  await log.write(Buffer.from('y'))
  expect(log.failure).toBeInstanceOf(Error)
})

test('a link in its place is not followed', async () => {
  const folder = temporaryFolder()
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'a.log'))
  await expect(RunLog.open(join(folder, 'a.log'), 100)).rejects.toMatchObject({ code: 'ELOOP' })
})
