// What only asks, beside commits of unknown outcome: it is answered, and sets off no turn after the other.
import { CommitUnknownError } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'

function start() {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

test('who listens is told of what happens after a commit of unknown outcome', async () => {
  const t = start()
  const seen: string[] = []
  t.faults.failCommit()
  t.engine.on('enqueued', ({ name }) => seen.push(name))
  await expect(t.engine.enqueue('a')).rejects.toThrow(CommitUnknownError)
  await t.engine.enqueue('b')
  expect(seen).toEqual(['b'])
})

test.each(['result', 'events', 'export'] as const)('%s is not asked again at once, where each turn fails', async (what) => {
  const t = start()
  const handle = await t.engine.enqueue('a', 1)
  await t.engine.enqueue('b', 1, { delay: '1s' })
  t.faults.failCommit({ times: 500 })
  await t.clock.advance('1s')
  const at = t.inThread.actor.meter.failedTurns
  if (what === 'result') void handle.result().catch(() => {})
  else if (what === 'export')
    void t.engine.exports
      .read('x')
      .next()
      .catch(() => {})
  else
    void t.engine
      .events({ after: 1_000 })
      .next()
      .catch(() => {})
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve))
  const failed = t.inThread.actor.meter.failedTurns - at
  t.faults.heal()
  expect(failed).toBeLessThan(10)
})
