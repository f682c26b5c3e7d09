// A refusal costs about as much as the parsing of the request, whatever is wrong with it. Each operation with a body is tried.
import { afterAll, describe, expect, test } from 'vitest'
import { openInThread } from '../../../testkit/src/testing/inThread.ts'
import { sampled } from '../../../testkit/src/testing/runs.ts'
import { testApi } from '../testing/api.ts'

const engine = openInThread()
const { operations, send } = testApi(engine)
afterAll(() => engine.stop())

const BYTES = 100_000
const many = (item: string) => Array.from({ length: BYTES / (item.length + 1) }, () => item).join()
const keys = JSON.stringify(Object.fromEntries(Array.from({ length: BYTES / 12 }, (_, n) => [`key${n}`, 1])))
const VALUES: Readonly<Record<string, string>> = {
  'a long string': `"${'x'.repeat(BYTES)}"`,
  'many keys': keys,
  'many items': `[${many('1')}]`,
  'many objects': `[${many('{}')}]`,
  'deep arrays': `${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}`,
}

/** Processor time of this thread in ms, which other load on the machine changes least. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

async function cost(work: () => unknown): Promise<number> {
  const before = cpuMs()
  await work()
  return cpuMs() - before
}

const bodies: readonly (readonly [string, string])[] = [['a long key', `{"${'x'.repeat(BYTES)}":1}`], ...Object.entries(VALUES)]

describe.each(sampled(operations.filter(({ body }) => body !== undefined)).map((each) => [each.id, each] as const))(
  '%s',
  (_, operation) => {
    // Parameters that are well formed: a body is read after them.
    const path = operation.path
      .replace('/jobs/{id}', '/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV')
      .replace('{kind}', 'unique')
      .replaceAll(/\{\w+\}/g, 'x')
    const fields = Object.keys((operation.body as unknown as { readonly shape?: object }).shape ?? {})
    const inputs = [
      ...bodies,
      ...fields.flatMap((field) => Object.entries(VALUES).map(([what, text]) => [`${field}: ${what}`, `{"${field}":${text}}`] as const)),
    ]

    test('a refusal costs about as much as the parsing', async () => {
      const { status, body } = await send(operation.method.toUpperCase(), path, { body: { unknown: 1 } })
      expect([status, body.errors?.[0]?.path]).toEqual([400, expect.stringMatching(/^body/)])
      for (const [what, raw] of inputs) {
        const refused = () => send(operation.method.toUpperCase(), path, { raw, headers: { 'content-type': 'application/json' } })
        let over = Number.POSITIVE_INFINITY
        // Collection of garbage and a busy machine are in some tries, not in all.
        for (let tries = 0; tries < 5 && over > 0; tries++) {
          const parsing = await cost(() => JSON.parse(raw))
          over = (await cost(refused)) - (8 * parsing + 25)
        }
        expect.soft(over, what).toBeLessThanOrEqual(0)
      }
    })
  },
)
