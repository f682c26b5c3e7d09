/**
 * Runs programs one after the other in this process, which has loaded the engine once: each line of stdin names one, and a mark on stdout and
 * on stderr is its end. A program is over when it has run to its last line, and nothing that it started would keep a process from ending.
 */
import { createInterface } from 'node:readline'
import '../../writers.ts'

interface Part {
  readonly url: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const MARK = '\u0001'
const environment = { ...process.env }

/** Returns what keeps this process from ending, but for its own streams. */
const holding = (): string =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => kind !== 'Immediate' && kind !== 'PipeWrap')
    .sort()
    .join()

let number = 0
for await (const line of createInterface({ input: process.stdin })) {
  const { url, args, env } = JSON.parse(line) as Part
  process.argv = [process.execPath, new URL(url).pathname, ...args]
  process.env = { ...environment, ...env }
  const before = holding()
  let code = 0
  try {
    await import(`${url}?run=${number++}`)
    while (holding() !== before) await new Promise((resolve) => setImmediate(resolve))
  } catch (error) {
    code = 1
    process.stderr.write(`${(error as Error).stack}\n`)
  }
  process.stderr.write(`${MARK}\n`)
  process.stdout.write(`${MARK}${code}\n`)
}
