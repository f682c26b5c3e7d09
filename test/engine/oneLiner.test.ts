// A program that is given to Node as a string, with the options that only fit such a one: its threads run files.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SCRIPT = `
import { defineJob, openEngine } from '@millrace/engine'
const engine = await openEngine({ file: ':memory:' })
const answer = defineJob({ name: 'answer' })
engine.work(answer.thread('${new URL('./handlers/answer.ts', import.meta.url).href}', { threads: 1 }))
const handle = await engine.enqueue(answer, { do: 'square', value: 12 })
const result = await handle.result()
const { jobs } = await engine.list()
console.log(JSON.stringify({ result, listed: jobs.length }))
await engine.stop()
`

test.each([
  ['as one word', ['--input-type=module', '-e', SCRIPT]],
  ['as two words', ['--input-type', 'module', '-e', SCRIPT]],
])('node --input-type %s: writer, readers and handlers run on their threads', async (_how, args) => {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL('.', import.meta.url) })
  expect(JSON.parse(stdout)).toEqual({ result: 144, listed: 1 })
})
