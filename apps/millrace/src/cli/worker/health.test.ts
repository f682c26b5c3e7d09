/** The limits of a worker's health server, which anybody may ask. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Engine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { serveHealth } from './health.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** A server over an engine that answers when the test says so. */
async function started() {
  const { promise: answer, resolve } = Promise.withResolvers<readonly never[]>()
  let asked = 0
  const workers = () => {
    asked++
    return answer
  }
  const engine = { workers } as unknown as Engine
  const health = await serveHealth({ host: '127.0.0.1', port: 0, engine, draining: () => false, logger: silent })
  onTestFinished(() => health.close())
  const dial = async (text: string) => {
    const socket = connect(Number(new URL(health.url).port), '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    let heard = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      heard += part
    })
    const closed = new Promise<string>((end) => socket.once('close', () => end(heard)))
    await once(socket, 'connect')
    socket.write(text)
    return { socket, closed }
  }
  return { dial, answer: () => resolve([]), asked: () => asked }
}

test('half-sent requests shut out no probe', async () => {
  const { dial, answer } = await started()
  answer()
  const crowd = []
  for (let index = 0; index < 140; index++) {
    crowd.push(await dial('GET /healthz HTTP/1.1\r\nX'))
    if (index % 20 === 19)
      for (const path of ['/healthz', '/readyz']) expect(await (await dial(GET(path))).closed).toMatch(/^HTTP\/1\.1 200 /)
  }
  await Promise.all(crowd.slice(0, 60).map(({ closed }) => closed))
  expect(crowd.at(-1)?.socket.destroyed).toBe(false)
})

test('requests that come at once have one answer, and ask the engine once', async () => {
  const { dial, answer, asked } = await started()
  const [many, other] = [await dial(GET('/readyz').repeat(1_500)), await dial(GET('/readyz'))]
  await expect.poll(asked).toBe(1)
  answer()
  const heard = [await many.closed, await other.closed]
  expect(heard.map((text) => text.match(/HTTP\/1\.1 200 /g)?.length)).toEqual([1, 1])
  // The other may come when the first have their answer.
  expect(asked()).toBeLessThanOrEqual(2)
})
