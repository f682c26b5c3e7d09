/** The code of an error and its causes, wherever a user reads them. */
import { defineJob, type EngineEvent, JobFailedError } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

/** As `fetch` throws it: what a program wants to know is in the cause. */
function unreachable(): Error {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED', syscall: 'connect' })
  return Object.assign(new TypeError('fetch failed', { cause: refused }), { code: 502 })
}

const CAUSE = [{ name: 'Error', message: 'connect ECONNREFUSED 10.0.0.1:443', code: 'ECONNREFUSED' }]
const ERROR = { name: 'TypeError', message: 'fetch failed', code: '502', cause: CAUSE }

const call = defineJob<string | undefined>({ name: 'call', maxAttempts: 1 })
const failing = call.handler(() => {
  throw unreachable()
})

test('a caller of result() looks at the code of the error, and at that of its cause', async () => {
  t.engine.work([failing])
  const failure = await (await t.engine.enqueue(call)).result().catch((error: unknown) => error)
  if (!(failure instanceof JobFailedError)) throw failure
  // As a user writes it: these are types, too.
  const { cause } = failure
  expect(cause.code).toBe('502')
  expect(cause.cause?.code).toBe('ECONNREFUSED')
  expect(cause.cause).toBeInstanceOf(Error)
  expect(String(cause.cause)).toBe('Error: connect ECONNREFUSED 10.0.0.1:443')
  expect(cause.cause?.stack).toBe('Error: connect ECONNREFUSED 10.0.0.1:443')
  expect(cause.cause?.cause).toBeUndefined()
  // That of JobFailedError itself is of the catalogue.
  expect(failure.code).toBe('JOB_FAILED')
})

test('get() shows them with the attempt; the stack has them still', async () => {
  t.engine.work([failing])
  const handle = await t.engine.enqueue(call)
  await handle.result().catch(() => {})
  const error = (await t.engine.get(handle.id))?.attempts[0]?.error
  expect(error).toEqual({ ...ERROR, stack: expect.stringContaining('\n[code]: 502\n[cause]: Error: connect') })
  // An error without them has no such fields.
  const plain = defineJob({ name: 'plain', maxAttempts: 1 })
  t.engine.work([
    plain.handler(() => {
      throw new Error('no')
    }),
  ])
  const other = await t.engine.enqueue(plain)
  await other.result().catch(() => {})
  expect(Object.keys((await t.engine.get(other.id))?.attempts[0]?.error ?? {})).toEqual(['name', 'message', 'stack'])
})

test('listeners of `retrying` and `failed` get them; events() does not', async () => {
  const heard: EngineEvent[] = []
  for (const type of ['retrying', 'failed'] as const) t.engine.on(type, (event) => heard.push(event))
  t.engine.work([failing])
  const handle = await t.engine.enqueue(call, undefined, { maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } })
  await handle.result().catch(() => {})
  expect(heard).toMatchObject([
    { type: 'retrying', error: 'TypeError', message: 'fetch failed', code: '502', cause: CAUSE },
    { type: 'failed', error: 'TypeError', message: 'fetch failed', code: '502', cause: CAUSE },
  ])
  const stored: object[] = []
  for await (const event of t.engine.events({ after: 0 })) if (stored.push(event) > 0 && event.type === 'failed') break
  expect(JSON.stringify(stored)).not.toContain('ECONNREFUSED')
})

test('a job that waited for the failed one gets them, and so does the last result of a schedule', async () => {
  const seen: unknown[] = []
  const after = defineJob({ name: 'after' })
  t.engine.work([
    failing,
    after.handler(async ({ parents }) => {
      for await (const { error } of parents()) seen.push(error)
    }),
  ])
  const { jobs } = await t.engine.flow([
    { ref: 'call', job: call },
    { ref: 'after', job: after, dependsOn: ['call'], onParentFailure: 'continue' },
  ])
  await jobs.after.result()
  expect(seen).toEqual([ERROR])
  await t.engine.schedules.upsert('often', { every: '1m' }, { job: call })
  await t.advance('1m')
  expect((await t.engine.schedules.get('often'))?.lastResult).toMatchObject({ state: 'failed', error: ERROR })
})

test('failures of one message stay one kind, whatever their codes and causes', async () => {
  t.engine.work([
    call.handler(({ data }) => {
      throw Object.assign(new Error('no', { cause: new Error(String(data)) }), { code: data })
    }),
  ])
  for (const code of ['E_ONE', 'E_TWO']) await (await t.engine.enqueue(call, code)).result().catch(() => {})
  expect(await t.engine.failures()).toMatchObject([{ error: 'Error', message: 'no', count: 2 }])
})

test('redact sees each of their texts as it sees a message', async () => {
  const redact = ({ message }: { readonly message: string }) => ({ message: message.replace(/secret/g, '***') })
  await t[Symbol.asyncDispose]()
  t = createTestEngine({ redact })
  const heard: EngineEvent[] = []
  t.engine.on('failed', (event) => heard.push(event))
  t.engine.work([
    call.handler(() => {
      const deep = Object.assign(new Error('secret deep'), { code: 'secret-2' })
      throw Object.assign(new Error('secret', { cause: new Error('a secret', { cause: deep }) }), { code: 'secret-1' })
    }),
  ])
  const handle = await t.engine.enqueue(call)
  const failure = await handle.result().catch((error: unknown) => error)
  expect(failure).toMatchObject({ cause: { message: '***', code: '***-1', cause: { message: 'a ***', cause: { code: '***-2' } } } })
  const cause = [
    { name: 'Error', message: 'a ***' },
    { name: 'Error', message: '*** deep', code: '***-2' },
  ]
  expect(heard).toMatchObject([{ message: '***', code: '***-1', cause }])
  expect((await t.engine.get(handle.id))?.attempts[0]?.error).toEqual({ name: 'Error', message: '***', code: '***-1', cause })
})

test('on a thread: the caller and the backoff function of the definition read them', async () => {
  const asked: unknown[] = []
  const answer = defineJob<{ do: string }>({
    name: 'answer',
    maxAttempts: 2,
    timeout: '1h',
    backoff: (_attempt, error) => {
      asked.push(error)
      return 0
    },
  })
  t.engine.work([answer.thread(new URL('./handlers/answer.ts', import.meta.url), { threads: 1 })])
  const handle = await t.engine.enqueue(answer, { do: 'call' })
  const failed = { name: 'TypeError', code: '502', cause: { code: 'ECONNREFUSED' } }
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: failed })
  expect(asked).toMatchObject([failed, failed])
  expect((await t.engine.get(handle.id))?.attempts[1]?.error).toMatchObject({ code: '502', cause: [{ code: 'ECONNREFUSED' }] })
})
