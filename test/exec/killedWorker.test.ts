// 5.4: kill -9 of a worker, and what becomes of the command that it ran.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { execHandlers } from '@millrace/exec'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFile, temporaryFolder } from '../temporary.ts'
import { startRoll } from './roll.ts'

const WORKER = new URL('./programs/worker.ts', import.meta.url)

test('5.4: the next worker ends what the killed one has left, before it runs the job again', async ({ skip }) => {
  if (!existsSync('/proc/self/environ')) skip('this system does not tell of processes in /proc')
  const file = temporaryFile()
  const logFolder = join(temporaryFolder(), 'logs')
  const roll = await startRoll()
  const first = startProgram(WORKER, [file, logFolder, roll.path])
  await Promise.all([roll.here('child-1'), roll.here('grandchild-1')])
  expect(readdirSync(logFolder).filter((name) => name.endsWith('.pid'))).toHaveLength(1)
  await first.kill()

  const second = startProgram(WORKER, [file, logFolder, roll.path])
  await Promise.all([roll.gone('child-1'), roll.gone('grandchild-1')])
  await Promise.all([roll.here('child-2'), roll.here('grandchild-2')])
  // The record of the first run is gone, that of the second is there.
  expect(readdirSync(logFolder).filter((name) => name.endsWith('-1.pid') || name.endsWith('-2.pid'))).toEqual([
    expect.stringMatching(/-2\.pid$/),
  ])
  await second.kill()

  // Without any job: to have the folder is enough.
  execHandlers({}, { logFolder })
  await Promise.all([roll.gone('child-2'), roll.gone('grandchild-2')])
  expect(readdirSync(logFolder).filter((name) => name.endsWith('.pid'))).toEqual([])
  await using engine = await openEngine({ file })
  const { id, created } = await engine.enqueue('family', null, { idempotencyKey: 'once' })
  expect(created).toBe(false)
  expect((await engine.get(id))?.attempts.map(({ run, error }) => [run, error?.name])).toEqual([
    [1, 'WorkerLostError'],
    [2, 'WorkerLostError'],
  ])
})

test('5.4: the command itself dies with its worker at once, where setpriv is there', async ({ skip }) => {
  if (!['/usr/bin/setpriv', '/bin/setpriv'].some((tool) => existsSync(tool))) skip('setpriv is not on this system')
  const roll = await startRoll()
  const program = startProgram(WORKER, [temporaryFile(), join(temporaryFolder(), 'logs'), roll.path])
  await Promise.all([roll.here('child-1'), roll.here('grandchild-1')])
  await program.kill()
  await roll.gone('child-1')
})
