/** The file of a Unix socket: its owner's alone, never taken from a living server, never anything else's end. */
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { listen } from '@millrace/remote'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { welcomed } from './rawClient.ts'
import { serve } from './served.ts'

const engine = {
  openPort(): never {
    throw new Error('nobody connects here')
  },
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('the folder is made for its owner alone, and so is the socket', async () => {
  const folder = join(temporaryFolder(), 'run', 'app')
  await using server = await listen(engine, `unix:${folder}/sock`)
  expect([modeOf(folder), modeOf(join(folder, '..')), modeOf(`${folder}/sock`)]).toEqual(['700', '700', '600'])
  expect(server.url).toBe(`unix:${folder}/sock`)
})

test('a folder that is there stays as it is', async () => {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  await using _server = await listen(engine, `unix:${folder}/sock`)
  expect([modeOf(folder), modeOf(`${folder}/sock`)]).toEqual(['755', '600'])
})

test('it goes with its server, which may be closed again and again', async () => {
  const path = join(temporaryFolder(), 'sock')
  const server = await listen(engine, `unix:${path}`)
  await Promise.all([server.close(), server.close()])
  await server.close()
  expect(existsSync(path)).toBe(false)
})

test('it goes with its engine, too: all servers of an engine that stops are closed, and clients told to come back', async () => {
  const [one, other] = [join(temporaryFolder(), 'sock'), join(temporaryFolder(), 'sock')]
  const owner = await openEngine({ file: ':memory:' })
  const servers = await Promise.all([listen(owner, `unix:${one}`), listen(owner, `unix:${other}`)])
  await servers[1].close()
  const client = await welcomed(`unix:${one}`)
  await owner.stop()
  expect([existsSync(one), existsSync(other)]).toEqual([false, false])
  expect(await client.said('goodbye')).toMatchObject({ code: 'CLOSING' })
  await Promise.all(servers.map((server) => server.close()))
})

test('what a killed server has left behind is removed', async () => {
  const path = join(temporaryFolder(), 'sock')
  const program = startProgram(new URL('./programs/bare.ts', import.meta.url), [path])
  await program.said(/^listening$/)
  await program.kill()
  expect(lstatSync(path).isSocket()).toBe(true)
  await using server = await listen(engine, `unix:${path}`)
  expect(server.url).toBe(`unix:${path}`)
  expect(modeOf(path)).toBe('600')
})

test('of several that find it at the same moment, one gets the place', async () => {
  const path = join(temporaryFolder(), 'sock')
  const program = startProgram(new URL('./programs/bare.ts', import.meta.url), [path])
  await program.said(/^listening$/)
  await program.kill()
  const settled = await Promise.allSettled([1, 2, 3].map(() => listen(engine, `unix:${path}`)))
  const servers = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
  expect(servers).toHaveLength(1)
  for (const outcome of settled) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'ADDRESS_IN_USE' })
  expect(lstatSync(path).isSocket()).toBe(true)
  await servers[0]?.close()
})

test('a living server keeps its socket', async () => {
  const served = await serve()
  await expect(listen(engine, served.url)).rejects.toMatchObject({ name: 'AddressInUseError', code: 'ADDRESS_IN_USE' })
  await (await served.probe()).barrier()
})

test('so does one that is not of ours', async () => {
  const path = join(temporaryFolder(), 'sock')
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(path, resolve))
  await expect(listen(engine, `unix:${path}`)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
  expect(existsSync(path)).toBe(true)
  await new Promise((resolve) => other.close(resolve))
})

test.each(['file', 'folder', 'link'])('a %s at its place is left alone', async (kind) => {
  const folder = temporaryFolder()
  const path = join(folder, 'sock')
  if (kind === 'file') writeFileSync(path, 'precious')
  else if (kind === 'folder') mkdirSync(path)
  else symlinkSync(join(folder, 'elsewhere'), path)
  await expect(listen(engine, `unix:${path}`)).rejects.toMatchObject({
    code: 'ADDRESS_IN_USE',
    message: expect.stringContaining('left alone'),
  })
  expect(lstatSync(path)).toBeDefined()
})

test('a folder that cannot be made is told', async () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  await expect(listen(engine, `unix:${file}/sock`)).rejects.toMatchObject({ code: 'NOT_WRITABLE' })
})

test('a path that is too long says where to put it', async () => {
  await expect(listen(engine, `unix:${temporaryFolder()}/${'x'.repeat(100)}`)).rejects.toMatchObject({ code: 'OPTION_RANGE', limit: 100 })
})

test('a TCP port that is taken is told too', async () => {
  await using first = await listen(engine, 'tcp://127.0.0.1:0')
  await expect(listen(engine, first.url)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
})
