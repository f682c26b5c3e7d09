// apps/examples/next in a folder of its own, with the packed packages and the real Next: built and started, and in development.
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Program, startProgram } from '../program.ts'
import { install, pack, tarballsOf } from './pack.ts'
import { run } from './run.ts'

const EXAMPLE = fileURLToPath(new URL('../../apps/examples/next', import.meta.url))
const HANDLER = '({ data }) => '

let folder: string

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-next-')))
  cpSync(EXAMPLE, folder, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { '@millrace/engine': _packed, ...dependencies } = { ...manifest.dependencies, ...manifest.devDependencies }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true }))
  await pack(folder)
  const others = Object.entries(dependencies).map(([name, range]) => `${name}@${range}`)
  await install(folder, [...others, ...tarballsOf(folder, 'engine')])
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

const env = () => [
  ...['env', '-C', folder, '-u', 'NODE_OPTIONS', '-u', 'NODE_ENV', 'NEXT_TELEMETRY_DISABLED=1'],
  ...['NEXT_MANUAL_SIG_HANDLE=true', `JOBS_FILE=${join(folder, 'jobs.db')}`],
]

function next(...args: readonly string[]): Program {
  const program = startProgram(pathToFileURL(join(folder, 'node_modules/next/dist/bin/next')), args, env())
  // Next ends the processes that it has started only if it is asked to end.
  onTestFinished(async () => {
    program.child.kill('SIGTERM')
    await program.ended
  })
  return program
}

async function originOf(program: Program): Promise<string> {
  return (await program.said(/Local: +http/)).replace(/.*Local: +/, '').trim()
}

const post = (origin: string, to: string) =>
  fetch(`${origin}/mails`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ to }) })

const edit = (from: string, to: string) => {
  const path = join(folder, 'queue.ts')
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(from)
  writeFileSync(path, text.replace(from, to))
}

test('built and started: a route enqueues, the worker runs, and a running job finishes after SIGTERM', { timeout: 600_000 }, async () => {
  const arrived = Promise.withResolvers<() => void>()
  const gate = createServer((_request, response) => arrived.resolve(() => response.end())).listen(0)
  onTestFinished(() => void gate.close())
  const { port } = gate.address() as AddressInfo
  const gated = `async ({ data }) => (await fetch('http://127.0.0.1:${port}')) && `
  edit(HANDLER, gated)
  const [command, ...flags] = env() as [string, ...string[]]
  const built = await run(command, [...flags, process.execPath, 'node_modules/next/dist/bin/next', 'build'], folder, { hangsMs: 500_000 })
  expect(built.code, built.stdout + built.stderr).toBe(0)

  const program = next('start', '-p', '0')
  const answer = await post(await originOf(program), 'ada@example.com')
  expect({ status: answer.status, body: await answer.json() }).toEqual({ status: 202, body: { id: expect.any(String) } })
  const open = await arrived.promise
  program.child.kill('SIGTERM')
  open()
  expect(await program.ended).toMatchObject({ code: 0, signal: null })
  expect(program.lines).toContain('mail to ada@example.com')
  edit(gated, HANDLER)
})

test('with output: standalone, the folder has the engine with its threads and its driver', { timeout: 600_000 }, async () => {
  const config = join(folder, 'next.config.ts')
  const settings = readFileSync(config, 'utf8')
  writeFileSync(config, settings.replace('serverExternalPackages', "output: 'standalone', serverExternalPackages"))
  onTestFinished(() => writeFileSync(config, settings))
  const [command, ...flags] = env() as [string, ...string[]]
  const built = await run(command, [...flags, process.execPath, 'node_modules/next/dist/bin/next', 'build'], folder, { hangsMs: 500_000 })
  expect(built.code, built.stdout + built.stderr).toBe(0)

  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-standalone-')))
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true, maxRetries: 3 }))
  cpSync(join(folder, '.next/standalone'), elsewhere, { recursive: true })
  const program = startProgram(pathToFileURL(join(elsewhere, 'server.js')), [], [...env(), 'PORT=0', 'HOSTNAME=127.0.0.1'])
  const answer = await post(await originOf(program), 'ada@example.com')
  expect(answer.status).toBe(202)
  await program.said(/^mail to ada@example\.com$/)
  program.child.kill('SIGTERM')
  expect(await program.ended).toMatchObject({ code: 0 })

  // Next traced what a program that it does not know needs too: threads and processes for jobs, and a thread for lists.
  for (const name of ['whole', 'resize']) cpSync(new URL(`programs/${name}.mjs`, import.meta.url), join(elsewhere, `${name}.mjs`))
  const { code, stdout, stderr } = await run(process.execPath, ['whole.mjs'], elsewhere)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ outputs: [42, 'thread: 42', 'process: 42'], listed: 3 })
})

test('in development: the engine stays when a file changes, and the worker has the new handler', { timeout: 600_000 }, async () => {
  const program = next('dev', '-p', '0')
  const origin = await originOf(program)
  expect((await post(origin, 'ada@example.com')).status).toBe(202)
  await program.said(/^mail to ada@example\.com$/)
  edit('mail to', 'changed mail to')
  await expect
    .poll(
      async () => {
        expect((await post(origin, 'bob@example.com')).status).toBe(202)
        return program.lines.some((line) => line === 'changed mail to bob@example.com')
      },
      { timeout: 120_000 },
    )
    .toBe(true)
})
