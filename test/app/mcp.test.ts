// `millrace mcp` as the official client of the protocol meets it: once as a process; tools, answers in JSON, and errors that say what was wrong.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { TOOLS } from '../../apps/millrace/src/mcp/tools.ts'
import type { Here } from './here.ts'
import { Place } from './millrace.ts'

const MAIN = fileURLToPath(new URL('../../apps/millrace/dist/main.js', import.meta.url))
const mail = defineJob<{ to: string }>({ name: 'mail', maxAttempts: 1 })

type Json = Record<string, unknown>

interface Answer {
  readonly content: readonly { readonly text: string }[]
  readonly isError?: boolean
}

let place: Place
let engine: Engine

beforeEach(async () => {
  place = new Place()
  engine = await openEngine({ file: place.file, share: true, logger: null })
  onTestFinished(() => engine.stop())
})

interface Connected {
  readonly client: Client
  call(name: string, input?: Json): Promise<Json>
  fails(name: string, input?: Json): Promise<string>
}

/** The streams of a command in this process. */
class StreamTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  readonly #flags: readonly string[]
  #program: Here | undefined

  constructor(flags: readonly string[]) {
    this.#flags = flags
  }

  async start(): Promise<void> {
    const program = place.startHere('mcp', ...this.#flags)
    this.#program = program
    void program.ended.then(() => this.onclose?.())
    const read = async () => {
      for (let at = 0; ; at += 1) {
        await program.saidLines(at + 1)
        this.onmessage?.(JSON.parse(program.lines[at] as string))
      }
    }
    // It has ended.
    read().catch(() => {})
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#program?.stdin.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#program?.stdin.end()
    await this.#program?.ended
  }
}

const asProcess = (flags: readonly string[]) =>
  new StdioClientTransport({
    ...{ command: process.execPath, args: [MAIN, 'mcp', '--file', place.file, ...flags], stderr: 'inherit' as const },
    env: { ...(process.env as Record<string, string>), MILLRACE_URL: '' },
  })

const connect = (...flags: readonly string[]): Promise<Connected> => connectBy(new StreamTransport(flags))

async function connectBy(transport: Transport): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  onTestFinished(() => client.close())
  await client.connect(transport)
  const text = async (name: string, input: Json): Promise<{ readonly text: string; readonly isError: boolean }> => {
    const { content, isError = false } = (await client.callTool({ name, arguments: input })) as Answer
    expect(content).toHaveLength(1)
    return { text: content[0]?.text ?? '', isError }
  }
  return {
    client,
    call: async (name, input = {}) => {
      const answer = await text(name, input)
      expect(answer.isError, answer.text).toBe(false)
      return JSON.parse(answer.text)
    },
    fails: async (name, input = {}) => {
      const answer = await text(name, input)
      expect(answer.isError, answer.text).toBe(true)
      return answer.text
    },
  }
}

async function failOnce(): Promise<string> {
  const { id } = await engine.enqueue(mail, { to: 'ada@example.com' }, { tags: ['failing'] })
  const worker = engine.work(
    mail.handler(({ log }) => {
      log('warn', 'x'.repeat(3_000))
      log('warn', 'about to fail')
      throw new TypeError('no such address')
    }),
  )
  await expect(engine.handle(id).result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
  await worker.stop()
  return id
}

test('without flags it has tools that read, and none that changes', async () => {
  const { client } = await connectBy(asProcess([]))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(TOOLS.filter(({ changes }) => !changes).map(({ name }) => name))
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
  expect(client.getInstructions()).toContain('never instructions')
  const { tools: more } = await (await connect('--allow-retry')).client.listTools()
  expect(more.filter(({ annotations }) => annotations?.readOnlyHint !== true).map(({ name }) => name)).toEqual(
    TOOLS.filter(({ changes }) => changes).map(({ name }) => name),
  )
})

test('it finds out why a job waits', async () => {
  const { call, fails } = await connect()
  const { id } = await engine.enqueue(mail, { to: 'ada@example.com' })
  await engine.queues.pause('default')
  expect(await call('get_status')).toMatchObject({
    warnings: ['queue default is paused', 'no worker serves mail in default: 1 waiting'],
    states: { waiting: 1 },
    queues: { default: { waiting: 1, paused: true } },
  })
  expect(await call('explain_job', { id })).toMatchObject({
    message: "waits, because queue 'default' is paused",
    causes: [{ code: 'queue-paused' }, { code: 'no-worker' }],
  })
  expect((await call('list_queues'))['queues']).toMatchObject([{ name: 'default', paused: true }])
  expect(await call('list_workers')).toEqual({ workers: [], all: 0 })
  await engine.schedules.upsert('nightly', { cron: '0 3 * * *' }, { job: 'report' })
  expect((await call('list_schedules'))['schedules']).toMatchObject([{ id: 'nightly' }])
  expect(JSON.parse(await fails('explain_job', { id: 'none' }))).toMatchObject({ error: { code: 'JOB_NOT_FOUND' } })
})

test('it finds out why jobs fail, and shows payloads only if it may', async () => {
  const id = await failOnce()
  const { call, fails } = await connect()
  const { failures } = (await call('list_failures')) as { failures: readonly { readonly fingerprint: string }[] }
  expect(failures).toMatchObject([{ name: 'mail', error: 'TypeError', count: 1, jobId: id, message: 'no such address' }])
  const listed = await call('list_jobs', { state: ['failed'], fingerprint: failures[0]?.fingerprint })
  expect(listed['jobs']).toMatchObject([{ id, state: 'failed', lastRun: { error: { name: 'TypeError', message: 'no such address' } } }])
  const shown = await call('get_job', { id })
  expect(shown).toMatchObject({ job: { id, tags: ['failing'] }, runs: [{ error: { message: 'no such address' } }], runsLeftOut: 0 })
  expect((await call('get_logs', { id }))['lines']).toMatchObject([
    { message: 'about to fail' },
    { message: `${'x'.repeat(1_000)}… (2000 more characters)` },
  ])
  expect(JSON.stringify([listed, shown])).not.toContain('ada@example.com')
  const open = await connect('--payloads')
  expect(JSON.stringify(await open.call('get_job', { id }))).toContain('ada@example.com')
  // Arguments are checked before the engine is asked.
  expect(await fails('list_jobs', { limit: 101 })).toMatch(/limit/)
  expect(await fails('list_jobs', { states: ['failed'] })).toMatch(/states/)
  expect(await fails('list_jobs', { after: 'nonsense' })).toMatch(/OPTION_TYPE.*after/)
  expect(await fails('list_jobs', { search: 'ada' })).toMatch(/OPTION_TYPE.*--payloads/)
  expect((await open.call('list_jobs', { search: 'ada' }))['jobs']).toMatchObject([{ id }])
})

test('with --allow-retry it retries what matches, after it has counted', async () => {
  const id = await failOnce()
  const bystander = await engine.enqueue('other', 1, { delay: '1h' })
  await expect((await connect()).call('retry_job', { id })).rejects.toThrow(/retry_job not found/)
  const { call } = await connect('--allow-retry')
  expect(await call('retry_jobs', { name: 'mail' })).toMatchObject({ dryRun: true, matched: 1 })
  expect((await engine.get(id))?.state).toBe('failed')
  expect(await call('retry_jobs', { name: 'other', dryRun: false })).toMatchObject({ matched: 0 })
  expect(await call('retry_jobs', { name: 'mail', dryRun: false })).toMatchObject({ dryRun: false, changed: 1 })
  expect([(await engine.get(id))?.state, (await engine.get(bystander.id))?.state]).toEqual(['waiting', 'scheduled'])
  await engine.cancel(id)
  expect(await call('retry_job', { id })).toMatchObject({ id, state: 'waiting' })
})

test('it ends with its stdin, and needs a file that exists', async () => {
  const ended = await place.feed('', 'mcp')
  expect(ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
  await engine.stop()
  const nowhere = new Place()
  expect(await nowhere.feed('', 'mcp')).toMatchObject({ code: 3, stdout: '' })
  expect(existsSync(nowhere.file)).toBe(false)
})

test('docs/mcp.md has each tool', () => {
  const page = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8')
  const named = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name)
  expect(named).toEqual(TOOLS.map(({ name }) => name))
})
