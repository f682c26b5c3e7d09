// A script writes the tables of the Python client from those of the engine, and both clients from one list of calls. Here they are compared.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { kinds, readers, views } from '../wire/python/answers.ts'
import { blockingOf, callsOf, clientOf } from '../wire/python/clients.ts'
import { options, schema } from '../wire/python/schema.ts'
import { ROOT } from './sources.ts'

const FOLDER = join(ROOT, 'clients/python/millrace')

const CALLS = ['changes', 'operations', 'queues'].flatMap((module) => callsOf(module, readFileSync(join(FOLDER, `${module}.py`), 'utf8')))

test.each([
  ['_blocking.py', () => blockingOf(readFileSync(join(FOLDER, 'asynchronous.py'), 'utf8'))],
  ['client.py', () => clientOf(CALLS, false)],
  ['async_client.py', () => clientOf(CALLS, true)],
  ['_schema.py', schema],
  ['_options.py', options],
  ['_views.py', () => views('_views')],
  ['_figures.py', () => views('_figures')],
  ['_readers.py', readers],
  ['_kinds.py', kinds],
])('%s is what the tables and the calls say', async (file, write) => {
  await expect(write()).toMatchFileSnapshot(join(FOLDER, file))
})
