// README.md: every block of it runs as it stands. The rules hold its size and its links (test/rules/pages.test.ts).
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { freePorts } from '../freePorts.ts'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { environmentOf, ROOT, runBlocks } from './shell.ts'

const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const blocks = [...README.matchAll(/^```(\S*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }))
const shell = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
const named = (part: string) => shell.filter((text) => text.includes(part))

const manifest = (path: string) => JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
const packages = ['apps/millrace', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`)]
const PACKAGES = new Set(packages.map((path) => manifest(path).name as string))

/** A folder as `npm install` leaves it, with links in place of packages. */
function installed(): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  mkdirSync(join(folder, 'node_modules/@millrace'))
  symlinkSync(join(ROOT, 'packages/engine'), join(folder, 'node_modules/@millrace/engine'))
  symlinkSync(join(ROOT, 'apps/millrace/dist/main.js'), join(folder, 'node_modules/.bin/millrace'))
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  return folder
}

test('each block is of a kind that is tried below', () => {
  expect(blocks.map(({ language }) => language)).toEqual(['sh', 'sh', 'js', 'sh', 'sh', 'sh'])
})

test('the quick start runs until it gets SIGTERM, lets the running job finish, and ends with 0', async () => {
  const folder = installed()
  const text = blocks.find(({ language }) => language === 'js')?.text as string
  // `using` is a syntax error on Node 22.
  expect(text).not.toMatch(/\busing\b/)
  // A job that is still running when the signal comes: its line is printed after the signal.
  const slow = text.replace(
    /^( *)console\.log\(`sending/m,
    "$1await new Promise((resolve) => process.once('SIGTERM', resolve))\n$1console.log(`sending",
  )
  expect(slow).not.toBe(text)
  for (const [name, program] of Object.entries({ 'server.mjs': text, 'slow.mjs': slow })) {
    writeFileSync(join(folder, name), program)
    const server = startProgram(pathToFileURL(join(folder, name)), [], ['env', '-C', folder])
    await server.said(/^enqueued [\da-f-]{36}$/)
    if (program === text) await server.said(/^sending mail to ada@example\.com$/)
    server.child.kill('SIGTERM')
    expect(await server.ended, name).toEqual({ code: 0, signal: null, stderr: '' })
    expect(server.lines.filter((line) => line.startsWith('sending')).length, name).toBeGreaterThan(0)
  }
})

test('the daemon, a worker and a job, each block as written', { timeout: 300_000 }, async () => {
  const [serve = '', ...rest] = [...named('millrace serve'), ...named('worker start')]
  expect(rest).toHaveLength(1)
  const folder = installed()
  const [http] = await freePorts(1)
  const env = environmentOf(folder, {
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    MILLRACE_HTTP_PORT: String(http),
    // Only what is linked above is run: nothing is fetched.
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  })
  // As test/snippets has it: npx finds what is installed (test/consumers), and takes a second each time.
  const inBackground = `npx() { "node_modules/.bin/$1" "\${@:2}"; }
(${serve.replace(/^npm install .*\n/m, '').trim()}) > daemon.log 2>&1 &
curl -sf --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:${http}/readyz > ready.json\n`
  const { code, errors, printed } = await runBlocks([inBackground, ...rest], { folder, env, cwd: folder, limitMs: 240_000 })
  expect({ code, errors }).toEqual({ code: 0, errors: expect.not.stringContaining('millrace:') })
  expect(printed[1]).toMatch(/"?sent to ada@example\.com"?/)
  expect(printed[1]).toMatch(/stopped\n/)
  expect(printed[1]).toMatch(/^jobs +0 scheduled, 0 waiting, 0 active, 0 blocked, 1 completed/m)
})

test('installs and packs what there is, and runs commands of this workspace', () => {
  const installs = shell.flatMap((text) => [...text.matchAll(/^npm install (.*)$/gm)].flatMap(([, names = '']) => names.split(' ')))
  expect(installs).toContain('@millrace/engine')
  expect(installs.filter((name) => !PACKAGES.has(name))).toEqual([])
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const commands = [...(named('run demo')[0] ?? '').matchAll(/^npx -y pnpm@12 (?:run )?(\w+)/gm)].map(([, name = '']) => name)
  expect(commands).toEqual(['demo', 'test', 'proof'])
  expect(named('run pack')).toHaveLength(1)
  for (const command of [...commands, 'pack']) expect(scripts[command], command).toBeDefined()
})
