/** Attackers who need no token, twice as many as there are places: for a minute, good requests are answered within a second. */
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startDaemon, tokenIn } from '../app/daemon.ts'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

/** The system holds some MiB for each client that reads nothing: more places than these would take what it has for all of its connections. */
const PLACES = 100
const MINUTE = 60_000
const CERTIFICATES = new URL('../remote/certificates/', import.meta.url).pathname
const TLS = { MILLRACE_TLS_KEY: `${CERTIFICATES}server.key`, MILLRACE_TLS_CERT: `${CERTIFICATES}server.crt` }

/** A request on a connection of its own: its status, 0 if there is none, and the milliseconds that it took. */
function ask(url: string, method: string, token: string, body?: string): Promise<{ readonly status: number; readonly ms: number }> {
  const begun = performance.now()
  const send = url.startsWith('https:') ? tlsRequest : plainRequest
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const request = send(url, { method, headers, agent: false, rejectUnauthorized: false }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode as number, ms: performance.now() - begun }))
    })
    request.on('error', () => resolve({ status: 0, ms: performance.now() - begun })).end(body)
  })
}

describe.each([
  ['http', {}],
  ['https', TLS],
])('%s', (scheme, env) => {
  test.each(['unread', 'login', 'both'])('attackers: %s', { timeout: 3 * MINUTE }, async (kind) => {
    const folder = temporaryFolder()
    const daemon = startDaemon(folder, { env: { ...env, MILLRACE_HTTP_MAX_CONNECTIONS: `${PLACES}` } })
    const { url } = await daemon.serving
    const token = tokenIn(folder)
    const crowd = startProgram(new URL('./programs/crowd.ts', import.meta.url), [new URL(url).port, `${2 * PLACES}`, kind, scheme])
    await crowd.said(/^there$/)
    // Answered behind what they have asked for when they came.
    expect((await ask(`${url}/readyz`, 'GET', token)).status).toBe(200)
    const asked = []
    const until = performance.now() + MINUTE
    while (performance.now() < until) {
      asked.push(ask(`${url}/readyz`, 'GET', token), ask(`${url}/v1/jobs`, 'POST', token, '{"job":"good"}'))
      await wait(100)
    }
    const answers = await Promise.all(asked)
    const slowest = Math.max(...answers.map(({ ms }) => ms))
    process.stdout.write(`${scheme}, ${kind}: ${answers.length} answers, the slowest after ${Math.round(slowest)} ms\n`)
    expect([...new Set(answers.map(({ status }) => status))].toSorted()).toEqual([200, 201])
    expect(slowest).toBeLessThan(1_000)
  })
})
