// apps/examples of web frameworks: a route enqueues, the worker in the same process runs the job, and SIGTERM stops the server first.
import { once } from 'node:events'
import { request } from 'node:http'
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFile } from '../temporary.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

function start(name: string, file: string) {
  const program = startProgram(
    new URL(`../../apps/examples/${name}/server.ts`, import.meta.url),
    [],
    [...['env', `JOBS_FILE=${file}`, 'PORT=0', 'QUEUE_TOKEN=test-token-0123456789abcdef']],
  )
  return { program, base: program.said(/^listening on/).then((line) => line.slice('listening on '.length)) }
}

test.each(['express', 'hono', 'fastify'])('%s', async (name) => {
  const file = temporaryFile()
  const { program, base } = start(name, file)
  const url = await base
  const answer = await fetch(`${url}/mails`, { method: 'POST', headers: JSON_TYPE, body: '{"to":"ada@example.com"}' })
  const { id } = (await answer.json()) as { id: string }
  expect({ status: answer.status, id }).toEqual({ status: 202, id: expect.any(String) })
  await program.said(/^mail to ada@example\.com$/)

  // A request that has begun is answered after the signal, and its job is stored.
  const late = request(`${url}/mails`, { method: 'POST', headers: { ...JSON_TYPE, 'content-length': 24, connection: 'close' } })
  late.write('{"to":"bob')
  await once(late, 'socket').then(([socket]) => socket.connecting && once(socket, 'connect'))
  // Answered by the same server, so the first part of the other has arrived.
  await fetch(`${url}/nowhere`)
  program.child.kill('SIGTERM')
  const refused = async () => {
    const probe = request(url).end()
    const [error] = await Promise.race([once(probe, 'error'), once(probe, 'response').then(() => [undefined])]).catch((error) => [error])
    return (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
  }
  await expect.poll(refused, { interval: 5 }).toBe(true)
  late.end('@example.com"}')
  const [response] = await once(late, 'response')
  response.resume()
  expect(response.statusCode).toBe(202)
  expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })

  await using engine = await openEngine({ file })
  expect(await engine.get(id)).toMatchObject({ state: 'completed', attempt: 1 })
  const { completed = 0, waiting = 0 } = (await engine.stats()).states
  expect(completed + waiting).toBe(2)
})
