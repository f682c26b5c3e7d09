/** Starts the Postgres of a test run, which ends with the process that started it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Binaries } from './binaries.ts'

const PROGRAM = fileURLToPath(new URL('./programs/server.ts', import.meta.url))

export interface Server {
  readonly url: string
  /** The process that ends the server with this one. */
  readonly pid: number
  stop(): Promise<void>
}

/** @param durable true for a server that syncs: by default it does not, since nothing of a test has to survive */
export async function startServer({ folder }: Binaries, durable = false): Promise<Server> {
  // A process group of its own: a Ctrl-C ends the tests first, and these the server.
  const child = spawn(process.execPath, [PROGRAM, folder, ...(durable ? ['durable'] : [])], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const exited = once(child, 'exit')
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const said = once(createInterface({ input: child.stdout }), 'line').then(([line]) => line as string)
  const url = await Promise.race([said, exited.then(() => undefined)])
  if (url === undefined) throw new Error(`Postgres did not start:\n${errors.join('\n')}`)
  return {
    url,
    pid: child.pid as number,
    stop: async () => {
      child.stdin.end()
      await exited
    },
  }
}
