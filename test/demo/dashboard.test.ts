/** The dashboard of the demo's run: open to this machine alone, and never a reason why a run fails or waits. */
import { once } from 'node:events'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRun } from '../../apps/demo/src/run.ts'
import { runDemo, startDemo } from './demoProcess.ts'
import { createWorkplace } from './workplace.ts'

const ADDRESS = /^Open (http:\/\/127\.0\.0\.1:\d+) in a browser/m
const addressIn = (stderr: string) => ADDRESS.exec(stderr)?.[1] ?? 'none'

function statusAs(host: string, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on('error', reject)
  })
}

test('shows the run and acts on it, and ends with it', async () => {
  const { folder, cwd, write } = createWorkplace()
  write('a', 'same')
  write('b', 'same')
  const { engine } = await openRun(folder, join(cwd, 'my.db'))
  await engine.queues.pause('demo')
  await engine.stop()
  const demo = startDemo([folder, '--file', 'my.db'], cwd)
  onTestFinished(async () => {
    demo.child.kill('SIGKILL')
    await demo.ended
  })
  const url = addressIn(await demo.said(ADDRESS))

  const page = await fetch(url)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await page.text()).toContain('<script')
  expect(await (await fetch(`${url}/v1/queues`)).json()).toMatchObject({ queues: [{ name: 'demo', paused: true }] })
  expect(await statusAs('elsewhere.example', `${url}/v1/queues`)).toBe(403)
  // A page that is open holds no run up.
  const events = await fetch(`${url}/v1/events`, { headers: { accept: 'text/event-stream' } })
  expect(events.status).toBe(200)
  expect((await fetch(`${url}/v1/queues/demo/resume`, { method: 'POST' })).ok).toBe(true)

  const { code, stdout, stderr } = await demo.ended
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('2 files, 8 bytes, in 1 folder\n')
  await expect(events.text()).rejects.toThrow()
})

test('a port that is taken is no reason to fail: it takes another', async () => {
  const { folder, cwd, write } = createWorkplace()
  write('a', 'one')
  const other = createServer().listen(7412, '127.0.0.1')
  onTestFinished(() => void other.close())
  // Another run on this machine may have it.
  const isHeld = await once(other, 'listening').then(
    () => true,
    () => false,
  )
  const { code, stderr } = await runDemo([folder], cwd)
  expect(code).toBe(0)
  expect(addressIn(stderr)).toMatch(/:\d+$/)
  if (isHeld) expect(addressIn(stderr)).not.toMatch(/:7412$/)
})

test('a flag turns it off', async () => {
  const { folder, cwd } = createWorkplace()
  const { code, stderr } = await runDemo([folder, '--no-dashboard'], cwd)
  expect(code).toBe(0)
  expect(stderr).not.toMatch(/http|dashboard/)
})
