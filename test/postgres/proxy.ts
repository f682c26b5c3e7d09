/** Starts a proxy before the server of the run, in a process of its own: a store blocks this one. It ends with the test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./programs/proxy.ts', import.meta.url))

export interface Proxy {
  readonly url: string
  /** Breaks the next connection that is used: before the server gets anything, or after it has committed. */
  cut(when: 'before' | 'after'): Promise<void>
}

export async function startProxy(url: string): Promise<Proxy> {
  const child = spawn(process.execPath, [PROGRAM, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.stdin.end())
  const lines = createInterface({ input: child.stdout })
  const [own] = (await once(lines, 'line')) as [string]
  return {
    url: own,
    cut: async (when) => {
      child.stdin.write(`${when}\n`)
      await once(lines, 'line')
    },
  }
}
