/** A Redis of its own for a test, which ends with it. Nothing of it is kept on disk. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { onTestFinished, type TestContext } from 'vitest'
import { freePort } from './freePorts.ts'
import { isRequired } from './required.ts'
import { temporaryFolder } from './temporary.ts'

const PROGRAM = 'redis-server'

export interface RedisServer {
  readonly url: string
  readonly client: Redis
  /** Opens another connection, for a worker, which blocks its own. */
  connect(): Redis
}

/** Starts a server. Without the program, the test is skipped, unless TEST_REDIS requires it. */
export async function startRedis({ skip }: Pick<TestContext, 'skip'>): Promise<RedisServer> {
  const port = await freePort()
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', temporaryFolder()]
  const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const missing = once(child, 'error').then(([error]) => error as Error)
  const lines = createInterface({ input: child.stdout })
  const ready = (async () => {
    for await (const line of lines) if (line.includes('Ready to accept connections')) return undefined
    return new Error('it ended')
  })()
  const error = await Promise.race([missing, ready])
  if (error !== undefined) {
    if (isRequired('TEST_REDIS')) throw new Error(`Redis is required (TEST_REDIS): ${error.message}`)
    return skip(`no Redis: ${error.message}`)
  }
  child.stdout.resume()
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const connect = () => {
    const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => null })
    // The server may end before a worker does.
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    return client
  }
  return { url: `redis://127.0.0.1:${port}`, client: connect(), connect }
}

/** Returns everything that a Redis holds: a string that differs if a command has written. */
export async function contentOf(client: Redis): Promise<string> {
  const keys = (await client.keys('*')).toSorted()
  const parts = await Promise.all(
    keys.map(async (key) => [key, (await client.dumpBuffer(key))?.toString('base64'), await client.pexpiretime(key)]),
  )
  return JSON.stringify(parts)
}
