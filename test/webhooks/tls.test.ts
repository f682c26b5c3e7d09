/** Deliveries over TLS, to a receiver with a certificate of an authority of its own. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { openEngine } from '@millrace/engine'
import { webhookHandler, webhookJob } from '@millrace/webhooks'
import { expect, onTestFinished, test } from 'vitest'

const pem = (name: string) => readFileSync(new URL(`../remote/certificates/${name}`, import.meta.url), 'utf8')

async function server(certificate: string): Promise<{ readonly port: number; readonly received: string[] }> {
  const received: string[] = []
  const listening = createServer({ key: pem(`${certificate}.key`), cert: pem(`${certificate}.crt`) }, (request, response) => {
    received.push(String(request.headers.host))
    response.end('ok')
  }).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => {
    listening.close()
    listening.closeAllConnections()
  })
  return { port: (listening.address() as AddressInfo).port, received }
}

test('https, by the authority that is trusted', async () => {
  const { port, received } = await server('server')
  await using engine = await openEngine({ file: ':memory:' })
  engine.work([webhookHandler({ allowPrivate: true, ports: 'any', ca: pem('ca.crt') })])
  const output = await (await engine.enqueue(webhookJob, { url: `https://localhost:${port}/` })).result()
  expect(output).toMatchObject({ status: 200, body: 'ok' })
  expect(received).toEqual([`localhost:${port}`])
})

test('authorities of which one is cut off are refused, and not taken for the rest', () => {
  const ca = pem('ca.crt')
  expect(() => webhookHandler({ ca: ca + ca })).not.toThrow()
  expect(() => webhookHandler({ ca: ca + ca.slice(0, 200) })).toThrow(expect.objectContaining({ option: 'ca' }))
})

test.each([
  ['an authority that is not trusted', 'server', undefined],
  ['a stranger', 'stranger', 'ca.crt'],
])('%s: nothing is sent, and it is tried again', async (_what, certificate, ca) => {
  const { port, received } = await server(certificate)
  await using engine = await openEngine({ file: ':memory:' })
  const retrying = new Promise<void>((resolve) => void engine.once('retrying', () => resolve()))
  engine.work([webhookHandler({ allowPrivate: true, ports: 'any', ...(ca !== undefined && { ca: pem(ca) }) })])
  const { id } = await engine.enqueue(webhookJob, { url: `https://localhost:${port}/` })
  await retrying
  expect((await engine.get(id))?.attempts[0]?.error).toMatchObject({
    name: 'DeliveryFailedError',
    message: expect.stringMatching(/CERT|SELF|UNABLE/),
  })
  expect(received).toEqual([])
})

test('https to this machine is refused like http, before a certificate is asked for', async () => {
  const { port, received } = await server('server')
  await using engine = await openEngine({ file: ':memory:' })
  engine.work([webhookHandler({ ports: 'any', ca: pem('ca.crt') })])
  const handle = await engine.enqueue(webhookJob, { url: `https://localhost:${port}/` })
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: expect.objectContaining({ name: 'SsrfBlockedError' }) })
  expect(received).toEqual([])
})
