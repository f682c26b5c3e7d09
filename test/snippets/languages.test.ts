// Every block that is neither TypeScript nor for the shell: it is read, and held against what it speaks of. A new one needs a check here.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { createTestEngine } from '@millrace/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../apps/millrace/src/config/load.ts'
import { SCHEMA } from '../../apps/millrace/src/config/schema/schema.ts'
import { eventDelivery } from '../../packages/webhooks/src/feed/deliveries.ts'
import { Place } from '../app/millrace.ts'
import { normal } from '../app/normal.ts'
import { environmentOf } from '../app/shell.ts'
import { startCommand } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { BLOCKS, type Block, isShell, ROOT, readPage } from './blocks.ts'
import { isElsewhere, isOf, UNRUNNABLE } from './held.ts'
import { parseMillrace } from './millrace.ts'
import { differences, readShown } from './shape.ts'

interface Checked {
  readonly page: string
  readonly language: string
  /** Part of the block. */
  readonly with: string
  readonly check: (text: string) => unknown
}

const TOKEN = 'test-token-0123456789abcdef'
const DEFAULTS = SCHEMA.parse({})

async function engineOf() {
  const engine = await openEngine({ file: ':memory:', logger: null })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}

async function answerOf(path: string, body?: object): Promise<unknown> {
  const api = createHttp(await engineOf(), {
    token: TOKEN,
    version: '0.1.0',
    instance: { name: 'production', colour: 'red' },
    sockets: () => [
      { kind: 'unix', path: '/srv/queue/millrace.db-socket', file: '2049:1312' },
      { kind: 'tls', port: 7411, local: false },
    ],
  })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await api.fetch(new Request(`http://127.0.0.1${path}`, init), { incoming: { socket: { remoteAddress: '127.0.0.1' } } })
  return response.json()
}

const isAnswerOf = (path: string) => async (text: string) => expect(differences(readShown(text), await answerOf(path))).toEqual([])

/** The body of an event webhook, of a job that has run. */
async function isEventBody(text: string): Promise<void> {
  const engine = await engineOf()
  engine.work(defineJob({ name: 'ship' }).handler(() => null))
  await (await engine.enqueue('ship')).result()
  const endpoint = { id: 'a', url: 'https://example.com', secret: 'a', events: ['completed'], cursor: 0 } as unknown as Parameters<
    typeof eventDelivery
  >[0]
  for await (const event of engine.events({ after: 0, filter: { types: ['completed'] } })) {
    if (event.type === 'gap') continue
    const { body } = eventDelivery(endpoint, 'webhooks', event).data as { readonly body: unknown }
    return expect(differences(readShown(text), typeof body === 'string' ? JSON.parse(body) : body)).toEqual([])
  }
}

/** Of an editor: how it starts the server. */
function isServerOfMcp(text: string): void {
  const { mcpServers } = JSON.parse(text) as { readonly mcpServers: Readonly<Record<string, { command: string; args: readonly string[] }>> }
  for (const { command, args } of Object.values(mcpServers)) {
    expect([command, args[0]]).toEqual(['npx', 'millrace'])
    expect(parseMillrace(args.slice(1))).toBe('mcp')
  }
}

async function isConfiguration(text: string): Promise<void> {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'millrace.config.toml'), text)
  for (const environment of [undefined, ...[...text.matchAll(/\$(\w+)"?[\].]/g)].map(([, name]) => name)])
    await loadConfig({ cwd: folder, env: environment === undefined ? {} : { MILLRACE_ENV: environment } })
}

function isScrapeConfiguration(text: string): void {
  const { rule_files, scrape_configs, ...others } = parse(text, { strict: true })
  expect(others).toEqual({})
  for (const file of rule_files) expect(existsSync(join(ROOT, 'apps/millrace/dashboards', file)), file).toBe(true)
  const { host, port } = DEFAULTS.http
  expect(scrape_configs).toEqual([
    { job_name: 'millrace', authorization: { credentials_file: expect.any(String) }, static_configs: [{ targets: [`${host}:${port}`] }] },
  ])
}

/** The probes of the manifests, by HTTPS. */
function areProbes(text: string): void {
  const probes = parse(text, { strict: true }) as Readonly<Record<string, { readonly httpGet: object }>>
  const manifest = readFileSync(join(ROOT, 'deploy/kubernetes/file/statefulset.yaml'), 'utf8')
  const found = [...manifest.matchAll(/^ +(\w+Probe):\n +httpGet: (.*)$/gm)].map(([, name, get]) => [
    name,
    { httpGet: { ...parse(get as string), scheme: 'HTTPS' } },
  ])
  expect(found.length).toBe(3)
  expect(probes).toEqual(Object.fromEntries(found))
}

function isWorkerImage(text: string): void {
  const [, image] = /^FROM (\S+)$/m.exec(text) ?? []
  expect(readPage('docs/containers.md')).toContain(`docker build -f apps/millrace/Dockerfile -t ${image} .`)
  const [, command = ''] = /^CMD (\[.*\])$/m.exec(text) ?? []
  expect(parseMillrace(JSON.parse(command))).toBe('worker start')
}

/** A module of CommonJS, for pm2: a program that runs in more than one process, and has time to drain. */
function isEcosystem(text: string): void {
  const module = { exports: {} as { readonly apps: readonly { readonly kill_timeout: number }[] } }
  new Function('module', text)(module)
  const [, timeoutS] = /longer than the timeout of stopOnSignals, (\d+) s/.exec(text) ?? []
  expect(module.exports.apps).toEqual([
    { name: 'app', script: './server.js', instances: 4, exec_mode: 'cluster', kill_timeout: expect.any(Number) },
  ])
  expect(module.exports.apps[0]?.kill_timeout).toBeGreaterThan(Number(timeoutS) * 1_000)
}

/** What a command prints on a terminal. */
async function isStart(text: string): Promise<void> {
  const [command = '', ...printed] = text.split('\n')
  const env = environmentOf(temporaryFolder(), { MILLRACE_LOG_FORMAT: 'pretty', MILLRACE_HTTP_PORT: '0' })
  const main = join(ROOT, 'apps/millrace/dist/main.js')
  const program = startCommand(['sh', '-c', `exec "$@" 2>&1`, 'sh', process.execPath, main, ...command.split(' ').slice(2)], {
    cwd: temporaryFolder(),
    env,
  })
  await program.said(/^ {4}schedules: /)
  program.child.kill('SIGTERM')
  expect(await program.ended).toMatchObject({ code: 0 })
  const lines = program.lines.slice(
    0,
    program.lines.findIndex((line) => line.endsWith('INFO: draining')),
  )
  expect(normal(lines.join('\n'))).toBe(normal(printed.join('\n')))
}

async function areErrorsOfOptions(text: string): Promise<void> {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const command = ['enqueue', 'mail', '--max-attempts', '0']
  const { code, stderr } = await place.run(...command)
  const [line, json = ''] = text.trimEnd().split('\n')
  expect({ code, stderr }).toEqual({ code: 2, stderr: `${line}\n` })
  expect(differences(readShown(json), JSON.parse((await place.run(...command, '--json')).stderr))).toEqual([])
}

async function areErrorsOfConfiguration(text: string): Promise<void> {
  const folder = temporaryFolder()
  const problemOf = (env: Readonly<Record<string, string>> = {}) => loadConfig({ cwd: folder, env }).catch(({ message }) => String(message))
  const ofVariable = await problemOf({ MILLRACE_HTTP_PORT: '99999' })
  writeFileSync(join(folder, 'millrace.config.toml'), '[retenton]\ncompleted = "1d"\n')
  const messages = `${ofVariable}\n${await problemOf()}`
  for (const line of text.trimEnd().split('\n')) expect(messages).toContain(line)
}

async function isFailedAssertion(text: string): Promise<void> {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  await t.engine.enqueue('mail', { to: 'ann', of: { id: 1, items: [1, 2] } }, { queue: 'out' })
  await t.engine.enqueue('mail', { to: 'bob' }, { queue: 'out', delay: '1h' })
  const error = await t.expectEnqueued('mail', { data: { to: 'ann', of: { id: 7 } } }).catch((cause: Error) => cause)
  expect((error as Error).message).toBe(text.trimEnd())
}

const CHECKED: readonly Checked[] = [
  { page: 'docs/http.md', language: 'json', with: '"startedAt"', check: isAnswerOf('/v1/info') },
  { page: 'docs/http.md', language: 'json', with: '"sockets"', check: isAnswerOf('/v1/sockets') },
  {
    page: 'docs/http.md',
    language: 'json',
    with: 'urn:millrace:problem',
    check: async (text) => expect(JSON.parse(text)).toEqual(await answerOf('/v1/jobs', { job: 'a', options: { ttl: 0 } })),
  },
  { page: 'docs/webhooks.md', language: 'json', with: '"job.completed"', check: isEventBody },
  { page: 'docs/mcp.md', language: 'json', with: 'mcpServers', check: isServerOfMcp },
  { page: 'docs/alerts.md', language: 'yaml', with: 'scrape_configs', check: isScrapeConfiguration },
  { page: 'docs/containers.md', language: 'yaml', with: 'startupProbe', check: areProbes },
  { page: 'docs/containers.md', language: 'dockerfile', with: 'FROM', check: isWorkerImage },
  { page: 'docs/cluster.md', language: 'js', with: 'module.exports', check: isEcosystem },
  { page: 'docs/daemon.md', language: '', with: '$ millrace', check: isStart },
  { page: 'docs/cli.md', language: '', with: 'millrace: --max-attempts', check: areErrorsOfOptions },
  { page: 'docs/configuration.md', language: '', with: "unknown key 'retenton'", check: areErrorsOfConfiguration },
  { page: 'docs/testing.md', language: '', with: 'expected a job', check: isFailedAssertion },
]

/** A drawing, or the bytes of a frame, which packages/wire/src/protocolDoc.test.ts decodes. */
const isDrawing = ({ language, text }: Block): boolean =>
  (language === '' || language === 'indented') &&
  (/[│─►▼╳]/.test(text) || /^(?:[CS]:(?: [\da-f]{2})+.*\n)+$/.test(text) || /^(?:e{4,}.*\n)/.test(text))

const isChecked = ({ page, language, with: part }: Checked, block: Block) =>
  page === block.page && language === block.language && block.text.includes(part)

describe('a block agrees with what it speaks of', () => {
  test.each(CHECKED)('$page $with', async (checked) => {
    const [block, ...others] = BLOCKS.filter((each) => isChecked(checked, each))
    expect(others).toEqual([])
    expect(block, 'there is no such block: leave it out of CHECKED').toBeDefined()
    await checked.check((block as Block).text)
  })

  test.each(BLOCKS.filter(({ language }) => language === 'toml'))('$place is a configuration', ({ text }) => isConfiguration(text))
})

test('each block of every page is looked at by a test', () => {
  const isLookedAt = (block: Block) =>
    // test/examples/snippetTypes.test.ts, of every page
    block.language === 'ts' ||
    block.language === 'toml' ||
    isShell(block) ||
    isDrawing(block) ||
    isElsewhere(block) ||
    UNRUNNABLE.some((held) => isOf(held, block)) ||
    CHECKED.some((checked) => isChecked(checked, block))
  expect(
    BLOCKS.filter((block) => !isLookedAt(block)).map(({ place, language }) => `${place}: ${language}`),
    'give the block a fence with its language, and a check in test/snippets/languages.test.ts',
  ).toEqual([])
})

test('a block that is wrong is seen', async () => {
  const shown = readShown('{ "version": "0.1.0", "nodes": 1, ... }')
  expect(differences(shown, { version: 1, node: 2 })).toEqual([
    '$.version: the page shows string, and the answer has number',
    '$.nodes: the page shows number, and the answer has nothing',
  ])
  expect(differences({ a: [{ b: 1 }] }, { a: [{ b: 1, c: true }], d: null })).toEqual([
    '$.a[0].c: the page shows nothing, and the answer has boolean',
    '$.d: the page shows nothing, and the answer has null',
  ])
  expect(differences({ a: [{ b: 1 }] }, { a: [] })).toEqual(['$.a: the page shows items, and the answer has none'])
  await expect(isConfiguration('[queues.mail]\nconcurrncyLimit = 4\n')).rejects.toThrow(/unknown key/)
  expect(() => isServerOfMcp('{"mcpServers":{"a":{"command":"npx","args":["millrace","mcp","--fil"]}}}')).toThrow(/unknown option '--fil'/)
  expect(() => isWorkerImage('FROM millrace\nCMD ["worker", "strt"]')).toThrow(/unknown command 'strt'|too many arguments/)
})
