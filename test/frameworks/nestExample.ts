/** The compiled example of NestJS, as its reader runs it: a route enqueues, the processor runs, terminus asks, and SIGTERM stops all of it. */
import { expect } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

export async function tryNestExample(main: URL): Promise<void> {
  const program = startProgram(main, [], ['env', `JOBS_FILE=${temporaryFolder()}/jobs.db`, 'PORT=0', 'NO_COLOR=1'])
  const base = (await program.said(/^listening on/)).slice('listening on '.length)
  const body = JSON.stringify({ to: 'ada@example.com' })
  const answer = await fetch(`${base}/mails`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect({ status: answer.status, body: await answer.json() }).toEqual({ status: 201, body: { id: expect.any(String) } })
  await program.said(/^mail to ada@example\.com$/)
  const health = await fetch(`${base}/health`)
  expect({ status: health.status, body: await health.json() }).toMatchObject({ status: 200, body: { details: { jobs: { status: 'up' } } } })
  program.child.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: null, signal: 'SIGTERM', stderr: '' })
}
