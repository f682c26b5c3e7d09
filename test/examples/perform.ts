/** Runs programs of apps/examples in one process of Node, one after the other: only the first of them pays for its start. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** A program that runs to its end; its lines are there when it has. */
export interface Performed {
  readonly lines: readonly string[]
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>
  /** Resolves with the first line that matches; rejects if the program ends without one. */
  said(pattern: RegExp): Promise<string>
}

interface Stage {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  /** Resolves when the last program is over. */
  free: Promise<unknown>
}

const MARK = '\u0001'
const STAGE: unique symbol = Symbol.for('millrace.test.stage')
/** A process runs many test files, one after the other, each with modules of its own. */
const shared = globalThis as { [STAGE]?: Stage }

function open(): Stage {
  const child = spawn(process.execPath, [new URL('./programs/stage.ts', import.meta.url).pathname], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  // The end of this process closes its input, and so ends it.
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref?(): void }).unref?.()
  child.once('exit', () => {
    delete shared[STAGE]
  })
  return { child, free: Promise.resolve() }
}

/** @param path within apps/examples */
export function perform(path: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Performed {
  const url = new URL(`../../apps/examples/${path}`, import.meta.url).href
  shared[STAGE] ??= open()
  const stage = shared[STAGE]
  const lines: string[] = []
  const ended = stage.free.then(() => run(stage, { url, args, env }, lines))
  stage.free = ended.catch(() => {})
  return {
    lines,
    ended,
    async said(pattern) {
      const { stderr } = await ended
      const line = lines.find((each) => pattern.test(each))
      if (line === undefined) throw new Error(`the program has ended without it. It said: ${lines.slice(-20).join(' | ')}; ${stderr}`)
      return line
    },
  }
}

/** Both streams end with the mark. */
async function run({ child }: Stage, part: object, lines: string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  const gone = Promise.withResolvers<never>()
  const exited = (code: number | null, signal: string | null) =>
    gone.reject(new Error(`the program has ended its process: ${code ?? signal}`))
  child.once('exit', exited)
  const whole = Promise.all([child.stdout, child.stderr].map(untilMark))
  child.stdin.write(`${JSON.stringify(part)}\n`)
  try {
    const [out, stderr] = (await Promise.race([whole, gone.promise])) as [string, string]
    const [said = '', code] = out.split(MARK)
    lines.push(...said.split('\n').slice(0, -1))
    return { code: Number(code), stderr: stderr.slice(0, stderr.indexOf(MARK)) }
  } finally {
    child.off('exit', exited)
  }
}

function untilMark(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const take = (part: string) => {
      text += part
      if (!text.endsWith('\n') || !text.includes(MARK)) return
      stream.off('data', take)
      resolve(text)
    }
    stream.on('data', take)
  })
}
