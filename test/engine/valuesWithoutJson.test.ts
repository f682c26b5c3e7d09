// Values that JSON does not have, within an object, at every door: what docs/payloads.md promises, and the same everywhere.
import { readFileSync } from 'node:fs'
import { OptionTypeError } from '@millrace/core'
import { createTestEngine } from '@millrace/testkit'
import { type Context, defineJob } from '@millrace/worker'
import { expect, onTestFinished, test } from 'vitest'

const PAGE = readFileSync(new URL('../../docs/payloads.md', import.meta.url), 'utf8')

class Point {
  readonly x = 1
  readonly #hidden = 2
  get sum(): number {
    return this.x + this.#hidden
  }
}

const cycle: unknown[] = []
cycle.push(cycle)

/** By the words of the page, in its order. */
const VALUES: Readonly<Record<string, unknown>> = {
  '`[undefined]`, `[() => 1]`, `[Symbol()]`, `[1, , 3]`': [[undefined], [() => 1], [Symbol('no')], new Array(1)],
  '`{ a: undefined }`, `{ a() {} }`, `{ a: Symbol() }`': [{ a: undefined }, { a() {} }, { a: Symbol('no') }],
  '`NaN`, `Infinity`, `new Date(NaN)`': [Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN)],
  '`-0`': [-0],
  '`new Date(0)`': [new Date(0)],
  'a `Map`, a `Set`, a `Promise`, a `RegExp`, an `Error`, an `ArrayBuffer`': [
    ...[new Map([[1, 2]]), new Set([1]), Promise.resolve(1), /x/, new Error('no'), new ArrayBuffer(2)],
  ],
  '`new Uint8Array([7, 8])`': [new Uint8Array([7, 8])],
  'an instance of a class': [new Point()],
  'an object with `toJSON`': [new URL('http://a/'), { toJSON: () => ({ b: 1 }) }],
  'a lone surrogate': ['\ud800'],
  'an own key `__proto__`': [JSON.parse('{"__proto__":{"a":1}}')],
  'a `BigInt`': [1n],
  'a cycle': [cycle],
  'a getter or a `toJSON` that throws': [
    {
      get a(): never {
        throw new Error('no')
      },
    },
  ],
}

/** The JSON of what comes back through each door, and of the doors that refuse with OptionTypeError. */
async function doors(value: object): Promise<Readonly<Record<string, string>>> {
  const { engine } = createTestEngine()
  onTestFinished(() => engine.stop())
  const found: Record<string, string> = {}
  const door = async (name: string, use: () => unknown) => {
    try {
      found[name] = JSON.stringify(await use())
    } catch (error) {
      expect(error).toBeInstanceOf(OptionTypeError)
      found[name] = 'refused'
    }
  }
  const plain = await engine.enqueue('plain', null, { delay: '1h' })
  const get = (id: string) => engine.get(id)
  await door('data', async () => (await get((await engine.enqueue('job', value, { delay: '1h' })).id))?.data)
  await door('meta', async () => (await get((await engine.enqueue('job', null, { delay: '1h', meta: value as never })).id))?.meta)
  await door('update of data', () => engine.update(plain.id, { data: value }).then(async () => (await get(plain.id))?.data))
  await door('update of meta', () => engine.update(plain.id, { meta: value as never }).then(async () => (await get(plain.id))?.meta))
  await door('data of a schedule', async () => {
    await engine.schedules.upsert('nightly', { every: '1d' }, { job: 'job', data: value })
    return (await engine.schedules.get('nightly'))?.data
  })

  const run = defineJob({ name: 'run', maxAttempts: 1 })
  engine.work(
    run.handler(async ({ checkpoint, progress, log }: Context) => {
      await door('checkpoint', () => checkpoint(value))
      progress(value)
      log('info', 'values', value as Readonly<Record<string, unknown>>)
      return value
    }),
  )
  const { id } = await engine.enqueue(run, {})
  await engine
    .handle(id)
    .result()
    .catch(() => {})
  const job = await get(id)
  if (found['checkpoint'] !== 'refused') found['checkpoint'] = JSON.stringify(job?.checkpoint)
  found['output'] = job?.state === 'failed' ? 'refused' : JSON.stringify(job?.output)
  found['progress'] = job?.progressValue === undefined ? 'refused' : JSON.stringify(job.progressValue)
  const { lines } = await engine.logs(id)
  found['log'] = JSON.stringify(lines.find(({ message }) => message === 'values')?.fields)
  return found
}

test.each(Object.entries(VALUES))('%s', async (what, value) => {
  const found = await doors({ values: value, bystander: 1 })
  const isRefused = attempt(value) === undefined
  const stored = isRefused ? 'refused' : JSON.stringify({ values: value, bystander: 1 })
  const { log, ...others } = found
  expect(new Set(Object.values(others))).toEqual(new Set([stored]))
  if (isRefused) expect(log).toMatch(/^\{"values":"\[unreadable: .*\]","bystander":1\}$/)
  else expect(log).toBe(stored)
  const rows = PAGE.split('\n').filter((line) => line.startsWith(`| ${what} |`))
  expect(rows).toHaveLength(1)
  const cell = (rows[0] as string).split(' | ').at(-1)?.replace(/ \|$/, '')
  for (const each of isRefused ? [] : new Set((value as unknown[]).map((one) => JSON.stringify([one]).slice(1, -1))))
    expect(cell, `${each} of ${what}`).toContain(`\`${each}\``)
  if (isRefused) expect(cell).toBe('refused')
})

function attempt(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
