// The readers as another thread asks them: each question is answered once, and an engine that ends answers by its end alone.
import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { CommandOf } from '@millrace/core'
import { expect, onTestFinished, test } from 'vitest'
import { greet, greetingOf, ReaderLine } from './attachedReaders.ts'

type List = CommandOf<'list'>
type Readers = NonNullable<Parameters<typeof greet>[1]>

const PAGE = { jobs: [], next: null }
const list = (limit: number): List => ({ op: 'list', filter: {}, limit })

function open(page: (command: List) => Promise<typeof PAGE>) {
  const readers = { page: page as Readers['page'], closed: false }
  const { port1, port2 } = new MessageChannel()
  greet(port2, readers)
  const far = greetingOf(port1)?.line as MessagePort
  const line = new ReaderLine(far)
  onTestFinished(() => {
    port1.close()
    line.close()
  })
  return { readers, line, far }
}

test('pages come to who asked for them, whichever is read first; what cannot be read is told', async () => {
  const first = Promise.withResolvers<typeof PAGE>()
  const { line } = open(({ limit }) => {
    if (limit === 1) return first.promise
    return limit === 2 ? Promise.resolve({ ...PAGE, next: 2 as never }) : Promise.reject(new Error('no thread'))
  })
  const asked = line.page(list(1))
  expect(await line.page(list(2))).toEqual({ jobs: [], next: 2 })
  await expect(line.page(list(3))).rejects.toThrow('no thread')
  first.resolve(PAGE)
  expect(await asked).toEqual(PAGE)
})

test('what fails because the engine ends is told by the engine’s end', async () => {
  const reading = Promise.withResolvers<typeof PAGE>()
  const { readers, line, far } = open(({ limit }) => (limit === 1 ? reading.promise : Promise.resolve(PAGE)))
  const told: unknown[] = []
  far.on('message', ({ id }) => told.push(id))
  line.page(list(1)).catch(() => told.push('refused'))
  await line.page(list(2))
  readers.closed = true
  reading.reject(new Error('the thread has ended'))
  // Over the same channel, behind what could have been said.
  await line.page(list(2))
  expect(told).toEqual([2, 3])
})

test('an end that goes takes the other one with it', async () => {
  const { line, far } = open(() => Promise.resolve(PAGE))
  await line.page(list(1))
  line.close()
  await once(far, 'close')
})

test('a port is greeted once; without readers there is no line; one that is no engine’s is not greeted', () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  expect(greetingOf(port1)).toBeUndefined()
  greet(port2, undefined)
  expect(greetingOf(port1)).toEqual({ line: undefined })
  expect(greetingOf(port1)).toBeUndefined()
})
