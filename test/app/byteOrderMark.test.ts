// Editors and shells of Windows put a byte order mark before a text: every door of texts takes it, and stores none.
import { writeFileSync } from 'node:fs'
import { createHttp } from '@millrace/http'
import { connect } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { Place } from './millrace.ts'

const MARK = '\uFEFF'
const TOKEN = 'test-token-0123456789abcdef'

const written = (place: Place, text: string): string => {
  const file = place.path('given')
  writeFileSync(file, text)
  return file
}

async function post(place: Place, path: string, type: string, body: string): Promise<void> {
  const engine = await connect(place.url as string)
  onTestFinished(() => engine.stop())
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': type }
  const { status } = await createHttp(engine, { token: TOKEN }).fetch(
    new Request(`http://localhost${path}`, { method: 'POST', headers, body }),
  )
  expect(status).toBeLessThan(300)
}

/** Each enqueues jobs named x. The mark is at the front of what it is given. */
const DOORS: Record<string, { readonly text: string; readonly data: unknown; give(place: Place, text: string): Promise<unknown> }> = {
  'enqueue x @file': { text: '{"a":1}', data: { a: 1 }, give: (place, text) => place.ok('enqueue', 'x', `@${written(place, text)}`) },
  'enqueue x -': {
    text: '{"a":1}\n',
    data: { a: 1 },
    give: async (place, text) => expect(await place.feed(text, 'enqueue', 'x', '-')).toMatchObject({ code: 0 }),
  },
  'import file': {
    text: '# a comment\n{"a":1}\n',
    data: { a: 1 },
    give: (place, text) => place.ok('import', written(place, text), '--name', 'x'),
  },
  'import --plain -': {
    text: `a ${MARK}\n`,
    data: `a ${MARK}`,
    give: async (place, text) => expect(await place.feed(text, 'import', '-', '--name', 'x', '--plain')).toMatchObject({ code: 0 }),
  },
  'POST /v1/jobs': {
    text: '{"job":"x","data":{"a":1}}',
    data: { a: 1 },
    give: (place, text) => post(place, '/v1/jobs', 'application/json', text),
  },
  'POST /v1/jobs:import': {
    text: '{"a":1}',
    data: { a: 1 },
    give: (place, text) => post(place, '/v1/jobs:import?name=x', 'application/x-ndjson', text),
  },
  'POST /v1/jobs:import, plain': {
    text: `a ${MARK}\n`,
    data: `a ${MARK}`,
    give: (place, text) => post(place, '/v1/jobs:import?name=x', 'text/plain', text),
  },
}

test.for(Object.entries(DOORS))('%s', async ([, { text, data, give }]) => {
  const place = new Place()
  await place.serve()
  await give(place, `${MARK}${text}`)
  const engine = await connect(place.url as string)
  onTestFinished(() => engine.stop())
  const { jobs } = await engine.list({ name: 'x' })
  expect(jobs.map((job) => job.data)).toEqual([data])
})
