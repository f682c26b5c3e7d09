/** What the engine knows of the processes of its workers: the version from their greeting, the figures from their renewals. */
import { defineJob } from '@millrace/engine'
import { connect } from '@millrace/remote'
import { sessionIntro } from '@millrace/testkit/internal'
import { expect, onTestFinished, test } from 'vitest'
import { HELLO, RawClient } from './rawClient.ts'
import { serve } from './served.ts'

const noop = defineJob({ name: 'noop' })

test('Q3: workers tell where they run and by which version, old clients among them', async () => {
  const { url, probe } = await serve()
  const engine = await connect(url)
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const worker = engine.work(
    noop.handler(() => {}),
    { id: 'node' },
  )
  await worker.ready
  const other = new RawClient(url)
  other.send({ ...HELLO, client: { ...HELLO.client, library: 'millrace-ruby 2.1' } })
  await other.said('welcome')
  await other.ask({ op: 'attach', session: sessionIntro(['b'], { uuid: 'ruby', worker: 'ruby', local: false }), held: [] })
  const workers = await (await probe()).call<'workers'>({ op: 'workers' })
  expect(workers).toMatchObject([
    { id: 'node', kind: 'remote', version: expect.stringMatching(/^\d+\.\d+\.\d+/), rssBytes: expect.any(Number) },
    { id: 'ruby', kind: 'foreign', version: 'millrace-ruby 2.1' },
  ])
  expect(workers[1]).not.toHaveProperty('rssBytes')
})
