// The server answers lines that its library would drop.
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { serveMcp } from './server.ts'

test('a line that is too long ends the server with an error', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const serving = serveMcp(engine, { retry: false, payloads: false }, { stdin, stdout }, new AbortController().signal)
  stdin.write('x'.repeat(18 * 2 ** 20))
  await expect(serving).rejects.toThrow('line 1 is longer than')
})

test('a line that is not JSON is answered with a parse error, and the lines after it are served', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const serving = serveMcp(engine, { retry: false, payloads: false }, { stdin, stdout }, new AbortController().signal)
  const answer = async (line: string): Promise<unknown> => {
    const answered = once(stdout, 'data')
    stdin.write(`${line}\n`)
    const [chunk] = (await answered) as [Buffer]
    return JSON.parse(chunk.toString())
  }
  expect(await answer('no json')).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } })
  const clientInfo = { name: 'test', version: '1' }
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  }
  expect(await answer(JSON.stringify(initialize))).toMatchObject({ id: 1, result: { serverInfo: { name: 'millrace' } } })
  stdin.end()
  await serving
})
