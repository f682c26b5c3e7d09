// apps/examples/cluster and apps/examples/logging, and the pages that take their snippets from there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { runSnippets, snippetsOf } from './snippets.ts'

const example = (name: string) => new URL(`../../apps/examples/${name}/main.ts`, import.meta.url)

test('cluster: a process that owned the file dies, the others take its jobs, and it is replaced', async () => {
  const folder = temporaryFolder()
  const program = startProgram(example('cluster'), [folder])
  await program.saidLines(3)
  const owners = new Set(program.lines.map((line) => /owner (\d+)$/.exec(line)?.[1]))
  expect(owners.size).toBe(1)
  const [owner] = owners
  const engine = await openEngine({ file: join(folder, 'jobs.db'), share: true, logger: null })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const resize = defineJob<{ picture: number }, { by: number }>({ name: 'resize' })
  const enqueue = (picture: number) => engine.enqueue(resize, { picture }, { idempotencyKey: `picture-${picture}` })
  expect(await (await enqueue(1)).result()).toEqual({ by: expect.any(Number) })
  process.kill(Number(owner), 'SIGKILL')
  await program.saidLines(4)
  const { by } = await (await enqueue(2)).result()
  expect(by).not.toBe(Number(owner))
  expect(program.lines[3]).toMatch(/^process \d+ serves, owner (?!undefined)/)
  expect(program.lines[3]).not.toContain(`owner ${owner}`)
  program.child.kill('SIGTERM')
  expect(await program.ended).toMatchObject({ code: 0 })
})

test('logging: failed attempts are lines of pino, and the lines of a job are not', async () => {
  const program = startProgram(example('logging'), [])
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
  const lines = program.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines).toMatchObject([
    { level: 40, part: 'queue', queue: 'default', msg: "job 'send' failed at attempt 1 of 2 and is tried again: Error: no such address" },
    {
      level: 50,
      part: 'queue',
      stack: expect.stringContaining('main.ts'),
      msg: expect.stringContaining('failed permanently at attempt 2 of 2'),
    },
    { level: 30, msg: expect.stringContaining('no such address') },
  ])
})

test('the snippets of docs/logging.md run: the first is the program, the others are handlers', async () => {
  const [first, ...others] = snippetsOf('docs/logging.md')
  expect(readFileSync(example('logging'), 'utf8')).toContain(first?.trimEnd())
  expect(others).toHaveLength(2)
  const given = `
    import { defineJob, openEngine } from '@millrace/engine'
    const send = defineJob<{ to: string } | string>({ name: 'send' })
    const engine = await openEngine({ file: ':memory:' })
    const request = { id: 'r-1' }
    const to = 'ada@example.com'
    const log = { info: (fields: object, message: string) => console.log(JSON.stringify({ ...fields, message })) }`
  const after = 'await engine.list().then(async ({ jobs }) => engine.handle(jobs[0].id).result())\nawait engine.stop()'
  const ended = await runSnippets('docs/logging.md', { given, after }, (_, index) => index > 0)
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(ended.stdout)).toMatchObject({ request: 'r-1', job: expect.any(String), message: 'sending' })
})

test('the snippets of docs/backups.md make a copy that opens, by a call and by a schedule', async () => {
  const folder = temporaryFolder()
  const given = `
    import { defineJob, openEngine } from '@millrace/engine'
    const engine = await openEngine({ file: '${folder}/jobs.db' })
    await engine.enqueue('kept', 1, { delay: '1h' })`
  const after = `
    const made = await (await engine.schedules.trigger('backup')).result()
    const copies = []
    await engine.stop()
    const { readdirSync } = await import('node:fs')
    const names = readdirSync('${folder}').filter((name) => /^jobs-.*[.]db$/.test(name)).map((name) => name.slice(0, -3))
    for (const name of names) {
      const copy = await openEngine({ file: '${folder}/' + name + '.db' })
      copies.push((await copy.list({ name: 'kept' })).jobs.length)
      await copy.stop()
    }
    console.log(JSON.stringify({ bytes: bytes > 0, made: made.bytes > 0, copies }))`
  const ended = await runSnippets('docs/backups.md', { given, after, instead: { '/backups': folder } })
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(ended.stdout)).toEqual({ bytes: true, made: true, copies: [1, 1] })
})

test('the snippet of docs/cluster.md runs', async () => {
  const folder = temporaryFolder()
  const given =
    "const resizePicture = (data: object) => Object.keys(data)\nconst resize = (await import('@millrace/engine')).defineJob<object>({ name: 'resize' })"
  const after = 'console.log(JSON.stringify(await (await engine.enqueue(resize, { picture: 1 })).result()))\nawait engine.stop()'
  const ended = await runSnippets('docs/cluster.md', { given, after, instead: { "'jobs.db'": `'${folder}/jobs.db'` } })
  expect(ended).toMatchObject({ code: 0, stderr: '', stdout: '["picture"]\n' })
})
