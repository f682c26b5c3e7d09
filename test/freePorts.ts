/**
 * Ports for programs that must be told one before they listen. A port that the system chose for a moment may be given to another program by
 * the time that it is used. These are below the range from which systems choose, and a process hands out none of them twice.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

const FIRST = 20_000
const COUNT = 10_000

/** Begins elsewhere in each process, because others test beside it. */
let next = Math.floor(Math.random() * COUNT)

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT} is free`)
}

export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return ports
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  await once(server.close(), 'close')
  return true
}
