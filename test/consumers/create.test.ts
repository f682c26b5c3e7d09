// `npm create millrace`, as from the registry: each template is created, installed, tested and started, and does a job.
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Program, startCommand } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { PACK, pack } from './pack.ts'
import { ENV, run } from './run.ts'

const LONG = { timeout: 600_000 }
const INSTALL = ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'] as const

let packed: string

beforeAll(async () => {
  packed = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-packed-')))
  await pack(packed)
}, 600_000)

afterAll(() => {
  if (packed !== undefined) rmSync(packed, { recursive: true, force: true, maxRetries: 3 })
})

const tarball = (name: string) => globSync(`${name}-[0-9]*.tgz`, { cwd: packed })[0] as string

/** Runs the packed program as `npm create` does, in `cwd`. */
const create = (cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  run('npm', ['exec', '--yes', `--package=${join(packed, tarball('create-millrace'))}`, '--', 'create-millrace', ...args], cwd, {
    hangsMs: 240_000,
    // The tests may be run by another package manager, which the program would take for the user's.
    env: { ...env, npm_config_user_agent: 'npm/11.0.0 node/v24.0.0 linux x64' },
  })

/** Creates a project, and installs it from the tarballs: no registry has them yet. */
async function created(template: string): Promise<string> {
  const parent = temporaryFolder()
  expect(await create(parent, ['app', '--template', template, '--no-install'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Created app from the template ${template}`),
  })
  const folder = join(parent, 'app')
  const packages = readdirSync(packed).filter((name) => !name.startsWith('create-'))
  await succeeds(
    folder,
    INSTALL,
    packages.map((name) => join(packed, name)),
  )
  await checked(folder)
  return folder
}

/** Its tests pass, and its types are right. */
async function checked(folder: string): Promise<void> {
  await succeeds(folder, ['npm', 'run', 'typecheck'])
  expect(await succeeds(folder, ['npm', 'test'])).toMatch(/Tests {2}\d+ passed/)
  // npm would leave it out of a package under its own name.
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toMatch(/^\*\.db-\*$/m)
}

async function succeeds(folder: string, [file, ...args]: readonly [string, ...string[]], more: readonly string[] = []): Promise<string> {
  const { code, stdout, stderr } = await run(file, [...args, ...more], folder, { hangsMs: 240_000 })
  expect(code, `${args.join(' ')}: ${stdout}${stderr}`).toBe(0)
  return stdout
}

const script = (name: string) => ['npm', 'run', name]

/** Whatever the command has started ends with the test. */
function start(folder: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const program = startCommand(command, { cwd: folder, env: { ...ENV, ...env }, detached: true })
  let over = false
  program.ended.then(() => {
    over = true
  })
  onTestFinished(() => {
    if (!over) process.kill(-(program.child.pid as number), 'SIGKILL')
  })
  return program
}

/** As by Ctrl-C, which every process of the terminal gets. npm itself ends by the signal, and says nothing of the others. */
async function stopped({ child, ended }: Program): Promise<void> {
  process.kill(-(child.pid as number), 'SIGTERM')
  await ended
}

/** SQLite removes its log when the file is closed. */
const expectClosed = (folder: string, file = 'jobs.db') =>
  expect(readdirSync(folder).filter((name) => name === file || name === `${file}-wal`)).toEqual([file])

test('embedded, by the words of the guide: a mail fails, and is sent by its second attempt', LONG, async () => {
  const guide = readFileSync(new URL('../../docs/create.md', import.meta.url), 'utf8')
  const [, section = ''] = /^## Before the first release$(.*?)^## /ms.exec(guide) ?? []
  const [packing, block = '', ...others] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, lines]) => lines)
  expect({ packing, others }).toEqual({ packing: `${PACK}\n`, others: [] })
  const parent = temporaryFolder()
  mkdirSync(join(parent, 'millrace'))
  symlinkSync(packed, join(parent, 'millrace/packed'))
  const program = start(parent, ['bash', '-ec', block])
  await program.said(/^enqueued [\da-f-]{36}$/)
  await program.said(/^sent a mail to ada@example\.com$/)
  await stopped(program)
  expectClosed(join(parent, 'my-app'))
  await checked(join(parent, 'my-app'))
})

test('web-worker: an order over HTTP is confirmed by the worker process', LONG, async () => {
  const folder = await created('web-worker')
  const server = start(folder, script('start'), { PORT: '0' })
  const url = await server.said(/^http:\/\/localhost:\d+$/)
  const worker = start(folder, script('worker'))
  await worker.said(/^worker .+ is ready$/)
  const accepted = await fetch(`${url}/orders`, { method: 'POST', body: '{"item":"book"}' })
  expect(accepted.status).toBe(202)
  const { id } = (await accepted.json()) as { readonly id: string }
  await worker.said(/^confirmed the order of book, attempt 1$/)
  const shown = async () => (await fetch(`${url}/orders/${id}`)).json()
  await expect.poll(shown).toEqual({ id, state: 'completed', output: 'one book is on its way' })
  await stopped(worker)
  await stopped(server)
  expectClosed(folder)
})

test('daemon: the dashboard answers, and a job is done by the worker process', LONG, async () => {
  const folder = await created('daemon')
  const port = { MILLRACE_HTTP_PORT: '0' }
  const daemon = start(folder, script('start'), port)
  const { url } = JSON.parse(await daemon.said(/"msg":"serving"/)) as { readonly url: string }
  const page = await fetch(url)
  expect({ status: page.status, text: await page.text() }).toEqual({ status: 200, text: expect.stringContaining('<meta name="base-path"') })
  const worker = start(folder, script('worker'))
  expect(await succeeds(folder, ['npm', 'run', 'job'])).toContain('"sent to ada@example.com"')
  // The commands and the daemon have the same file.
  expect(await succeeds(folder, ['npx', '--no-install', 'millrace', 'schedules', 'list'])).toContain('nightly')
  // The first token is where the README says.
  expect(readFileSync(join(folder, 'millrace.db-token'), 'utf8')).toMatch(/^mr_/)
  await stopped(worker)
  await stopped(daemon)
  expectClosed(folder, 'millrace.db')
})

test('without a network, the project is complete, and says how to install it', LONG, async () => {
  const parent = temporaryFolder()
  const nobody = { npm_config_registry: 'http://127.0.0.1:1', npm_config_fetch_retries: '0', npm_config_cache: join(parent, 'cache') }
  const ended = await create(parent, ['app', '-t', 'embedded'], nobody)
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/The project is complete.+ Run npm install in .+\/app\..+\(INSTALL\)/s),
  })
  expect(readdirSync(join(parent, 'app')).toSorted()).toEqual(expect.arrayContaining(['.gitignore', 'README.md', 'package.json', 'src']))
})
