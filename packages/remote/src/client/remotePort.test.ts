/** When a Port that has lost its connection tries again, with sockets and time in the test's hand. */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { VirtualClock } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { Link } from '../link.ts'
import { Backoff } from './backoff.ts'
import { DialError, type Dialled } from './dial.ts'
import { RemotePort } from './remotePort.ts'

/** Connected to nobody. */
class FakeSocket extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done()
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}

function start() {
  const clock = new VirtualClock()
  const sockets: FakeSocket[] = []
  const dialledMono: number[] = []
  let refusing = false
  const dial = async (began: (link: Link) => void): Promise<Dialled> => {
    const greetedMono = clock.read().mono
    dialledMono.push(greetedMono)
    if (refusing) throw new DialError({ code: 'CONNECTION_LOST', message: 'nobody is there', retryAfterMs: 0 })
    const socket = new FakeSocket()
    sockets.push(socket)
    const link = new Link(socket as unknown as Socket, { role: 'client', clock, frameMs: Number.POSITIVE_INFINITY })
    began(link)
    return { link, greetedMono, maxDataBytes: undefined }
  }
  const said: string[] = []
  const open = async () => {
    const port = new RemotePort(
      { dial, backoff: new Backoff(50, 5_000, () => 1 - Number.EPSILON), clock, logger: undefined },
      await dial(() => {}),
    )
    port.listen({
      deliver: () => {},
      lapsed: () => {},
      broken: () => void said.push('broken'),
      reopened: () => void said.push('reopened'),
      ended: () => void said.push('ended'),
    })
    return port
  }
  /** The connection breaks; answers how long it takes until the next attempt. */
  const breakNow = async (): Promise<number> => {
    const brokeMono = clock.read().mono
    const attempts = dialledMono.length
    sockets.at(-1)?.destroy()
    await quiet()
    while (dialledMono.length === attempts) await clock.advance(1)
    await quiet()
    return (dialledMono.at(-1) as number) - brokeMono
  }
  const end = async (port: RemotePort) => {
    const closed = port.close()
    // A goodbye has a second to get out.
    await clock.advance(1_000)
    await closed
  }
  return { clock, open, end, breakNow, said, dialledMono, refuse: (now: boolean) => (refusing = now) }
}

test('a connection that breaks at once is tried again after longer and longer', async () => {
  const { open, end, breakNow } = start()
  const port = await open()
  const delays: number[] = []
  for (let times = 0; times < 6; times++) delays.push(await breakNow())
  expect(delays).toEqual([50, 100, 200, 400, 800, 1_600])
  await end(port)
})

test('one that has held for 5 s is tried again at once, however often others broke before', async () => {
  const { clock, open, end, breakNow, said } = start()
  const port = await open()
  for (let times = 0; times < 5; times++) await breakNow()
  await clock.advance(4_999)
  expect(await breakNow()).toBe(1_600)
  await clock.advance(5_000)
  expect([await breakNow(), await breakNow()]).toEqual([50, 100])
  expect(said.slice(-2)).toEqual(['broken', 'reopened'])
  await end(port)
})

test('attempts that fail count as connections that broke at once', async () => {
  const { clock, open, end, breakNow, dialledMono, refuse } = start()
  const port = await open()
  await clock.advance(5_000)
  refuse(true)
  expect(await breakNow()).toBe(50)
  for (let times = 0; times < 3; times++) {
    const attempts = dialledMono.length
    while (dialledMono.length === attempts) await clock.advance(1)
    await quiet()
  }
  const delays = dialledMono.slice(-4).map((mono, index, all) => mono - (all[index - 1] ?? mono))
  expect(delays).toEqual([0, 100, 200, 400])
  await end(port)
})
