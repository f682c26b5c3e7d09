// What a killed worker has left running is ended; nothing else ever is.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootId, pidNamespace, startOf } from '@millrace/worker/process'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { temporaryFolder } from '../testing/folder.ts'
import { sweep } from './sweep.ts'

const ID = '01890000-0000-7000-8000-000000000001'
const NAME = `${ID}-1.pid`
const OURS = { JOB_ID: ID, JOB_RUN: '1' }
/** No process of now has begun with the boot. */
const DEAD = { pid: 2 ** 22 + 1, start: '1' }

function needsProc({ skip }: Pick<TestContext, 'skip'>): void {
  if (bootId() === '') skip('this system does not tell of processes in /proc')
}

/** A group of a shell and its child; they have said that they are there. */
async function startGroup(env: Record<string, string>, text = 'sleep 1000 & echo here; wait'): Promise<ChildProcess & { pid: number }> {
  const child = spawn('/bin/sh', ['-c', text], {
    detached: true,
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // It has been ended by the test.
    }
  })
  await once(child.stdout, 'data')
  return child as ChildProcess & { pid: number }
}

function recordOf(more: object, group: object | undefined): string {
  const folder = temporaryFolder()
  const path = join(folder, NAME)
  writeFileSync(path, `${JSON.stringify({ boot: bootId(), namespace: pidNamespace(), worker: DEAD, ...more })}\n`)
  if (group !== undefined) appendFileSync(path, `${JSON.stringify({ group })}\n`)
  return folder
}

const isAlive = (pid: number) => startOf(pid) !== undefined
const closed = (child: ChildProcess) => once(child, 'close')
/** Maybe before anybody asks. */
const exited = async (child: ChildProcess) => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

test('a group whose first process is the one on record is killed as a whole', async (context) => {
  needsProc(context)
  const child = await startGroup({})
  const folder = recordOf({}, { pid: child.pid, start: startOf(child.pid) })
  expect(sweep(folder, 0)).toEqual([child.pid])
  // The pipe closes when the last of them has ended.
  await closed(child)
  expect(readdirSync(folder)).toEqual([])
})

test('a group whose first process is dead is known by a member that was started for that run', async (context) => {
  needsProc(context)
  const child = await startGroup(OURS, 'sleep 1000 & echo here; kill -9 $$')
  await exited(child)
  const folder = recordOf({}, { pid: child.pid, start: '5' })
  expect(sweep(folder, 0)).toEqual([child.pid])
  await closed(child)
})

test('a number that is another process by now is left alone', async (context) => {
  needsProc(context)
  const child = await startGroup({})
  const folder = recordOf({}, { pid: child.pid, start: '5' })
  expect(sweep(folder, 0)).toEqual([])
  expect(isAlive(child.pid)).toBe(true)
  expect(readdirSync(folder)).toEqual([])
})

test('a group of another run is left alone, also where its first process is dead', async (context) => {
  needsProc(context)
  const child = await startGroup({ ...OURS, JOB_RUN: '2' }, 'sleep 1000 & echo here $!; kill -9 $$')
  await exited(child)
  expect(sweep(recordOf({}, { pid: child.pid, start: '5' }), 0)).toEqual([])
})

test('a worker that lives keeps its command', async (context) => {
  needsProc(context)
  const child = await startGroup(OURS)
  const worker = { pid: process.pid, start: startOf(process.pid) }
  const folder = recordOf({ worker }, { pid: child.pid, start: startOf(child.pid) })
  expect(sweep(folder, Number.POSITIVE_INFINITY)).toEqual([])
  expect([isAlive(child.pid), readdirSync(folder)]).toEqual([true, [NAME]])
})

test('another container is not judged from here; its record goes with the age of logs', async (context) => {
  needsProc(context)
  const child = await startGroup(OURS)
  const folder = recordOf({ namespace: 'pid:[1]' }, { pid: child.pid, start: startOf(child.pid) })
  expect([sweep(folder, 0), readdirSync(folder)]).toEqual([[], [NAME]])
  utimesSync(join(folder, NAME), 1, 1)
  expect([sweep(folder, 2_000), readdirSync(folder)]).toEqual([[], []])
  expect(isAlive(child.pid)).toBe(true)
})

test('what was before the machine has started anew is forgotten', async (context) => {
  needsProc(context)
  const child = await startGroup(OURS)
  const folder = recordOf({ boot: 'another' }, { pid: child.pid, start: startOf(child.pid) })
  expect([sweep(folder, 0), readdirSync(folder), isAlive(child.pid)]).toEqual([[], [], true])
})

test('a worker that died before its command was started has left nothing', (context) => {
  needsProc(context)
  const folder = recordOf({}, undefined)
  expect([sweep(folder, 0), readdirSync(folder)]).toEqual([[], []])
})

test.for([
  '',
  'x',
  '{}',
  '{"worker":{"pid":1,"start":"1"}}',
  `${JSON.stringify({ worker: DEAD })}\n{"group":{"pid":-1,"start":"1"}}`,
  `${JSON.stringify({ worker: DEAD })}\n{"group":{"pid":1,"start":"1"}}`,
  `${JSON.stringify({ worker: DEAD })}\n{"grou`,
])('half a record kills nobody: %j', (text, context) => {
  needsProc(context)
  const folder = temporaryFolder()
  writeFileSync(join(folder, NAME), text)
  expect([sweep(folder, 0), readdirSync(folder)]).toEqual([[], [NAME]])
  expect([sweep(folder, Number.POSITIVE_INFINITY), readdirSync(folder)]).toEqual([[], []])
})

test('a record that goes while the folder is looked through, as when a run of another worker ends, fails no start', async (context) => {
  needsProc(context)
  const child = await startGroup({})
  const folder = recordOf({}, { pid: child.pid, start: startOf(child.pid) })
  // Listed, and not there.
  const gone = `${ID}-2.pid`
  symlinkSync('nowhere', join(folder, gone))
  expect(sweep(folder, Number.POSITIVE_INFINITY)).toEqual([child.pid])
  await closed(child)
  expect(readdirSync(folder)).toEqual([gone])
})

test('whatever is no record is left alone', (context) => {
  needsProc(context)
  const folder = temporaryFolder()
  for (const name of ['server.pid', `${ID}.pid`, `${ID}-1.log`]) writeFileSync(join(folder, name), '1')
  expect(sweep(folder, Number.POSITIVE_INFINITY)).toEqual([])
  expect(readdirSync(folder)).toHaveLength(3)
})

test('a member that shows no environment is waited for a little, and then left alone', async (context) => {
  needsProc(context)
  const child = await startGroup({}, 'env -i /bin/sleep 1000 & echo here; kill -9 $$')
  await exited(child)
  expect(sweep(recordOf({}, { pid: child.pid, start: '5' }), 0)).toEqual([])
})
