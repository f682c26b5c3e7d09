/** What the README says of the app. Its section "Run it": each block as it stands, in one bash, and what it prints as the README has it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = join(ROOT, 'apps/millrace/src/main.ts')
/** By when a newcomer has to be through with it. */
const LIMIT_MS = 5 * 60_000
const MARK = '=== the next block ==='
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

interface Step {
  readonly script: string
  /** Empty where the README shows nothing. */
  readonly prints: string
}

function stepsOf(readme: string): readonly Step[] {
  const section = /^## Run it\n(.*?)^## /ms.exec(readme)?.[1] ?? ''
  const blocks = [...section.matchAll(/^```(sh)?\n(.*?)^```$/gms)].map(([, kind, text]) => ({ kind, text: text as string }))
  return blocks.flatMap(({ kind, text: script }, index) => {
    const next = blocks[index + 1]
    return kind === 'sh' ? [{ script, prints: next !== undefined && next.kind === undefined ? next.text : '' }] : []
  })
}

/** Without what differs from run to run: ids, times, processes, ports, folders, and the width of tables that have them. */
function normal(text: string): string {
  return text
    .replace(/\bmr_[\w-]{43}/g, 'TOKEN')
    .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replace(/worker-[\da-f]{8}/g, 'WORKER')
    .replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, 'DATE')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:]{8}(?:\.\d+)?Z/g, 'TIME')
    .replace(/\[\d\d:\d\d:\d\d\.\d{3}\]/g, '[TIME]')
    .replace(/(?<="durationMs":)\d+/g, 'MS')
    .replace(/\b(?:[\d.]+(?:ms|s)|\d+m \d+s)(?= ago)/g, 'SPAN')
    .replace(/(?<=process )\d+/g, 'PID')
    .replace(/^(\S+ +)\d+ +\S+(?= +(?:idle|busy) )/gm, '$1PID HOST')
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/(?:\/[\w.-]+)+(?=\/(?:millrace\.db|worker\.log))/g, 'FOLDER')
    .replace(/ {2,}/g, '  ')
    .replace(/ +$/gm, '')
    .trim()
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

/** An environment in which nothing is told to it but ports, and where to keep what. */
function environmentOf(folder: string, [http, receiver]: readonly number[]): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(
    ([name]) => !/^(?:MILLRACE_|NODE_OPTIONS$|NODE_ENV$|PORT$|NO_COLOR$|FORCE_COLOR$)/.test(name),
  )
  return {
    ...Object.fromEntries(clean),
    TMPDIR: folder,
    MILLRACE_STATE_DIR: join(folder, 'state'),
    MILLRACE_HTTP_PORT: String(http),
    RECEIVER_PORT: String(receiver),
  }
}

test('the steps of "Run it", each as written, in less than five minutes', { timeout: LIMIT_MS + 30_000 }, async () => {
  const steps = stepsOf(README)
  expect(steps).toHaveLength(8)
  const folder = temporaryFolder()
  const env = environmentOf(folder, await freePorts(2))
  const files = steps.map(({ script }, index) => {
    const file = join(folder, `${index}.sh`)
    writeFileSync(file, script)
    return file
  })
  const all = files.map((file) => `. '${file}'\necho '${MARK}'\n`).join('')
  // A process group of its own: whatever it leaves behind when it fails ends with it, and detached workers by their records.
  const bash = spawn('bash', ['-e', '-c', all], { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(bash, 'close')
  const endGroup = () => {
    try {
      process.kill(-(bash.pid as number), 'SIGKILL')
    } catch {
      // As it is to be: nothing is left.
    }
  }
  onTestFinished(async () => {
    const stop = spawn(process.execPath, [MAIN, 'worker', 'stop', '--all', '--timeout', '1ms'], { env, stdio: 'ignore' })
    await once(stop, 'close')
    endGroup()
  })
  const began = performance.now()
  let printed = ''
  let errors = ''
  bash.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  bash.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = await once(bash, 'exit', { signal: AbortSignal.timeout(LIMIT_MS) })
  const took = performance.now() - began
  // Where it has failed, what it has started still holds its output.
  endGroup()
  await closed
  const parts = printed.split(`${MARK}\n`)
  expect({ code, errors, blocks: parts.length - 1, last: parts.at(-1) }).toEqual({ code: 0, errors: '', blocks: steps.length, last: '' })
  for (const [index, { prints }] of steps.entries()) expect(normal(parts[index] as string)).toBe(normal(prints))
  expect(took).toBeLessThan(LIMIT_MS)
})

test('every file and folder that the README points at is there', () => {
  const links = [...README.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
  const files = [...README.matchAll(/`((?:test|packages|apps)\/[^`]+)`/g)]
  const named = [...links, ...files].map(([, path]) => path as string)
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
