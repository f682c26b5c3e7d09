/** Attacks on a daemon's HTTP without a token: nobody else is shut out, nor the address that they come from. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startDaemon, tokenIn } from '../app/daemon.ts'
import { temporaryFolder } from '../temporary.ts'

const HALF = 'GET / HTTP/1.1\r\nX'
/** More than `http.maxConnections`. */
const CROWD = 2_200

/** A connection from that address of this machine, with what it hears. */
async function dial(port: number, localAddress: string, text: string) {
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress })
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await Promise.race([once(socket, 'connect'), closed])
  socket.write(text)
  return { socket, closed, heard: () => heard }
}

test('wrong tokens, however many: good ones pass at that address, and the log says it once', { timeout: 60_000 }, async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  const { url } = await daemon.serving
  const status = async (token: string) => (await fetch(`${url}/v1/stats`, { headers: { authorization: `Bearer ${token}` } })).status
  const statuses = []
  for (let times = 0; times < 12; times++) statuses.push(await status(`wrong${times}-aaaaaaaaaaaaaa`), await status(tokenIn(folder)))
  expect(statuses).toEqual(Array(12).fill([401, 200]).flat())
  await daemon.said(/too many wrong tokens/)
  expect(daemon.lines.filter((line) => line.includes('too many wrong tokens'))).toHaveLength(1)
})

test('2,200 half-sent requests of one address shut out nobody, and not that address', { timeout: 120_000 }, async ({ skip }) => {
  if (process.platform !== 'linux') skip('127.0.0.2 is an address of this machine on Linux alone')
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  const { url } = await daemon.serving
  const port = Number(new URL(url).port)
  const get = async (localAddress: string, path: string) => {
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenIn(folder)}\r\nConnection: close\r\n\r\n`
    const { closed, heard } = await dial(port, localAddress, head)
    await closed
    return heard().slice(0, 12)
  }
  const crowd = []
  for (let from = 0; from < CROWD; from += 200) {
    crowd.push(...(await Promise.all(Array.from({ length: 200 }, () => dial(port, '127.0.0.1', HALF)))))
    // While it grows, and when it is more than there is room for.
    expect([await get('127.0.0.1', '/readyz'), await get('127.0.0.2', '/v1/stats')]).toEqual(Array(2).fill('HTTP/1.1 200'))
  }
  for (let times = 0; times < 20; times++) {
    crowd.push(...(await Promise.all(Array.from({ length: 50 }, () => dial(port, '127.0.0.1', HALF)))))
    for (const address of ['127.0.0.1', '127.0.0.2'])
      for (const path of ['/readyz', '/healthz', '/v1/stats']) expect(await get(address, path)).toBe('HTTP/1.1 200')
  }
  const open = crowd.filter(({ socket }) => !socket.destroyed)
  expect(open.length).toBeLessThanOrEqual(2_000)
  // Those that waited longest were closed.
  expect(crowd.slice(0, 200).every(({ socket }) => socket.destroyed)).toBe(true)
  await daemon.said(/all HTTP connections are taken/)
  expect(daemon.lines.filter((line) => line.includes('all HTTP connections are taken'))).toHaveLength(1)
})

const DOCUMENT = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'

/** Clients that say something and read nothing. */
async function silentClients(port: number, count: number, text: string): Promise<void> {
  for (let index = 0; index < count; index++) {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.pause().on('error', () => {})
    await once(socket, 'connect')
    socket.write(text)
  }
}

/** Returns the most memory that a process has occupied, in mebibytes. */
function mostOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024
}

test('64 KB of pipelined requests take less than 20 MB, and 10,000 requests do not end a daemon with a heap of 256 MB', async ({
  skip,
}) => {
  if (process.platform !== 'linux') skip('/proc has the memory of a process on Linux alone')
  const folder = temporaryFolder()
  const daemon = startDaemon(folder, { env: { NODE_OPTIONS: `${process.env['NODE_OPTIONS']} --max-old-space-size=256` } })
  const { url } = await daemon.serving
  const port = Number(new URL(url).port)
  const pid = daemon.child.pid as number
  const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status
  const oneByOne = async () => {
    for (let times = 0; times < 50; times++) expect(await statusOf('/openapi.json')).toBe(200)
  }
  const mostAmid = async (load: () => Promise<unknown>) => {
    // The most is counted anew.
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    await load()
    for (let times = 0; times < 5; times++) expect(await statusOf('/readyz')).toBe(200)
    return mostOf(pid)
  }
  // Whatever is loaded or compiled for the first request.
  await oneByOne()
  // The system may have taken pages back from an idle daemon, so the same requests one by one are what is compared with.
  const usual = await mostAmid(oneByOne)
  const added = (await mostAmid(() => silentClients(port, 1, DOCUMENT.repeat(Math.floor(65_536 / DOCUMENT.length))))) - usual
  expect(added).toBeLessThan(20)

  await silentClients(port, 8, DOCUMENT.repeat(1_250))
  // As many as are answered one by one.
  await silentClients(port, 100, DOCUMENT.repeat(16))
  for (let times = 0; times < 5; times++) expect(await statusOf('/readyz')).toBe(200)
  expect(await statusOf('/openapi.json')).toBe(200)

  // Answers of 2 MB, each of its own: 40 connections hold as much of them as all may, and no more.
  const headers = { authorization: `Bearer ${tokenIn(folder)}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ job: 'large', data: 'x'.repeat(100_000) })
  for (let times = 0; times < 20; times++) expect((await fetch(`${url}/v1/jobs`, { method: 'POST', headers, body })).status).toBe(201)
  const list = `GET /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\n\r\n`
  await silentClients(port, 40, list.repeat(16))
  expect((await fetch(`${url}/v1/jobs`, { headers })).status).toBe(200)
  for (let times = 0; times < 5; times++) expect(await statusOf('/readyz')).toBe(200)
  expect(mostOf(pid)).toBeLessThan(600)
})
