// A daemon whose control database is taken away while it runs: jobs go on, reads are answered, and everybody can see it.
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemonHere, tokenIn } from './daemon.ts'
import { Place } from './millrace.ts'

test.each<[what: string, harm: (control: string) => void]>([
  ['deleted', (control) => rmSync(control)],
  ['moved away', (control) => renameSync(control, `${control}.moved`)],
])('the control database is %s: what needs an entry in the audit is refused, and status, doctor and health say so', async (_what, harm) => {
  const place = new Place()
  const folder = temporaryFolder()
  const file = join(folder, 'millrace.db')
  const daemon = startDaemonHere(folder)
  const { url } = await daemon.serving
  const engine = await attached(daemon, folder)
  const authorization = `Bearer ${tokenIn(folder)}`
  const ask = async (method: string, path: string) => {
    const answer = await fetch(`${url}${path}`, { method, headers: { authorization } })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const { id } = await engine.enqueue('mail', {}, { delay: '1h' })
  expect(await place.run('doctor', '--file', file)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^control database +ok /m) })
  harm(`${file}-control`)

  const refused = { code: 'AUDIT_UNAVAILABLE' }
  expect(await ask('DELETE', `/v1/jobs/${id}`)).toMatchObject({ status: 503, body: refused })
  await expect(engine.delete(id)).rejects.toMatchObject(refused)
  expect(await ask('GET', `/v1/jobs/${id}`)).toMatchObject({ status: 200, body: { state: 'scheduled' } })
  expect(await engine.enqueue('mail')).toBeDefined()
  const degraded = 'the control database cannot be written: calls that need admin are refused'
  expect(await ask('GET', '/healthz')).toEqual({ status: 200, body: { status: 'ok', degraded } })
  expect(await ask('GET', '/readyz')).toEqual({ status: 200, body: { status: 'ready', degraded } })
  const told = /millrace\.db-control was taken away from a running daemon.* All that it had is in millrace\.db-control\.saved-\d+/
  expect(await place.run('status', '--file', file)).toMatchObject({ code: 0, stdout: expect.stringMatching(told) })
  const doctor = await place.run('doctor', '--file', file)
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(told), stderr: expect.stringMatching(/ \(FAILED\)\n$/) })
})
