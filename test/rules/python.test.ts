// A script writes the tables of the Python client from those of the engine, and both clients from one list of calls. Here they are compared.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { kinds, readers, views } from '../wire/python/answers.ts'
import { blockingOf, callsOf, clientOf } from '../wire/python/clients.ts'
import { options } from '../wire/python/options.ts'
import { requests } from '../wire/python/requests.ts'
import { GENERATED, schema } from '../wire/python/schema.ts'
import { withBounds } from '../wire/python/words.ts'
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
  ['_calls.py', requests],
])('%s is what the tables and the calls say', async (file, write) => {
  await expect(write()).toMatchFileSnapshot(join(FOLDER, file))
})

/** Words that people read where they are written by hand, with the bounds of the tables. */
const HELD = [
  'the weight that runs at a time, {adjust.maxConcurrency}, default',
  'At most {jobsPerCommand} jobs and {bytesPerCommand} in one run.',
  'From {progress.fraction}, with a note of {progress.note} and a JSON value of {progress.value}.',
  'of the message {logMessageLength} characters are kept',
  'At most {jobsPerCommand} jobs and {bytesPerCommand} in one join, {joinsPerJob} joins and {edgesPerFlow} jobs in one job.',
  'At most {sliceRows} jobs change in one commit.',
  'a number of at most 53 bits',
].map(withBounds)

/** A range, a largest number, or one with commas. */
const BOUND = /\b\d[\d,.]* to \d|\b(?:at most|up to) \d|\d,\d{3}|\d or more/i

test('a bound that is written by hand is that of the tables', () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.py'))
  const texts = ['../README.md', ...files].map((file) => readFileSync(join(FOLDER, file), 'utf8'))
  const words = texts.filter((text) => !text.includes(GENERATED)).map((text) => text.replaceAll(/\s+/g, ' '))
  expect(HELD.filter((held) => !words.some((text) => text.includes(held)))).toEqual([])
  const others = words.map((text) => HELD.reduce((left, held) => left.replaceAll(held, ''), text))
  expect(others.map((text) => BOUND.exec(text)?.[0]).filter((bound) => bound !== undefined)).toEqual([])
})
