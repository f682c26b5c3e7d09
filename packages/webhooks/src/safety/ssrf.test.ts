/** Whatever a URL or a name says: nothing of this machine or its network is reached. */
import type { LookupAddress } from 'node:dns'
import { connect } from 'node:net'
import { buildConnector } from 'undici'
import { describe, expect, test } from 'vitest'
import { openInThread } from '../../../testkit/src/testing/inThread.ts'
import { webhookHandler } from '../deliver/handler.ts'
import type { WebhookHandlerOptions } from '../deliver/options.ts'
import { webhookJob } from '../job.ts'
import { receiver } from '../testing/receiver.ts'
import { isPrivate } from './addresses.ts'
import { guardedConnector, guardedLookup, type Lookup } from './connector.ts'
import { checkTarget, hostTest } from './target.ts'

/** Of one delivery: its only attempt's error. */
async function errorOf(url: string, options: WebhookHandlerOptions): Promise<{ readonly name: string; readonly message: string }> {
  await using engine = openInThread()
  engine.work([webhookHandler(options)])
  const handle = await engine.enqueue(webhookJob, { url, body: 1 })
  await handle.result().catch(() => {})
  const job = await engine.get(handle.id)
  expect(job?.attempts).toHaveLength(1)
  return job?.attempts[0]?.error as { name: string; message: string }
}

const lookupOf =
  (...addresses: LookupAddress[]): Lookup =>
  (_hostname, _options, callback) =>
    callback(null, addresses)

const LITERALS = [
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '127.1',
  '0',
  '0.0.0.0',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '１２７.0.0.1',
  '127。0。0。1',
] as const

const ELSEWHERE = [
  '169.254.169.254',
  '2852039166',
  '100.64.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[ff02::1]',
  '255.255.255.255',
] as const

describe('literals of this machine, where a server waits', () => {
  test.each(LITERALS)('%s', async (literal) => {
    const { port, connections } = await receiver()
    expect(await errorOf(`http://${literal}:${port}/`, { allowHttp: true, ports: 'any' })).toMatchObject({ name: 'SsrfBlockedError' })
    expect(connections).toBe(0)
  })
})

test.each(ELSEWHERE)('%s', (literal) => {
  const rules = { allowPrivate: false, allowHttp: false, ports: 'any', allowHosts: undefined } as const
  expect(() => checkTarget(new URL(`https://${literal}/`), rules)).toThrow(expect.objectContaining({ code: 'SSRF_BLOCKED' }))
  expect(() => checkTarget(new URL(`https://${literal}/`), { ...rules, allowPrivate: true })).not.toThrow()
})

describe('names', () => {
  test.each([
    ['localhost', undefined],
    ['example.com', [{ address: '127.0.0.1', family: 4 }]],
    ['example.com', [{ address: '::ffff:127.0.0.1', family: 6 }]],
    ['example.com', [{ address: '::1', family: 6 }]],
    [
      'example.com',
      [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    ],
  ] as const)('%s that leads to %j', async (name, addresses) => {
    const server = await receiver()
    const options = { allowHttp: true, ports: 'any', ...(addresses && { lookup: lookupOf(...addresses) }) } as const
    const { name: error, message } = await errorOf(`http://${name}:${server.port}/`, options)
    expect(error).toBe('SsrfBlockedError')
    expect(message).toContain('allowPrivate')
    expect(server.connections).toBe(0)
  })

  test('one that leads nowhere is tried again', async () => {
    await using engine = openInThread()
    engine.work([
      webhookHandler({ lookup: (_name, _options, callback) => callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []) }),
    ])
    const handle = await engine.enqueue(
      webhookJob,
      { url: 'https://nowhere.example/' },
      { maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } },
    )
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', message: expect.stringContaining('ENOTFOUND') })
    expect((await engine.get(handle.id))?.attempts.map(({ error }) => error?.name)).toEqual(['DeliveryFailedError', 'DeliveryFailedError'])
  })

  test('a name whose address changes: what was looked at is what is connected to, each time', async () => {
    const server = await receiver()
    let asked = 0
    // Public when it is looked at, private when it is looked at again.
    const rebinding: Lookup = (_name, _options, callback) =>
      callback(null, [{ address: asked++ === 0 ? '93.184.216.34' : '127.0.0.1', family: 4 }])
    const lookup = guardedLookup(rebinding, isPrivate)
    const ask = () => new Promise((resolve) => lookup('rebind.example', { all: true }, (error, addresses) => resolve(error ?? addresses)))
    expect(await ask()).toEqual([{ address: '93.184.216.34', family: 4 }])
    expect(await ask()).toMatchObject({ code: 'SSRF_BLOCKED' })
    expect(server.connections).toBe(0)
  })

  test('whatever the lookup says: a connection to a private address is ended before a byte of the request is sent', async () => {
    const server = await receiver()
    // The name is public to whoever asks; the connection goes to this machine all the same.
    const astray: buildConnector.connector = (_options, callback) => {
      const socket = connect(server.port, '127.0.0.1', () => callback(null, socket))
    }
    const options = { hostname: 'rebind.example', protocol: 'http:', port: String(server.port) }
    const answer = await new Promise((resolve) =>
      guardedConnector(astray, isPrivate)(options, (...[error, socket]) => resolve(error ?? socket)),
    )
    expect(answer).toMatchObject({ code: 'SSRF_BLOCKED' })
    expect(server.received).toEqual([])
    const allowed = await new Promise((resolve) =>
      guardedConnector(astray, () => false)(options, (...[error, socket]) => resolve(error ?? socket?.destroy())),
    )
    expect(allowed).toMatchObject({ destroyed: true })
  })

  test('the connector of undici itself, to a literal, for which no lookup is asked', async () => {
    const server = await receiver()
    let asked = 0
    const lookup: Lookup = (_name, _options, callback) => {
      asked++
      callback(null, [])
    }
    const connector = guardedConnector(buildConnector({ lookup: guardedLookup(lookup, isPrivate) } as object), isPrivate)
    const options = { hostname: '127.0.0.1', protocol: 'http:', port: String(server.port) }
    expect(await new Promise((resolve) => connector(options, (...[error]) => resolve(error)))).toMatchObject({ code: 'SSRF_BLOCKED' })
    expect(asked).toBe(0)
  })
})

describe('what a URL may be', () => {
  const rules = { allowPrivate: false, allowHttp: false, ports: new Set([443, 8443]), allowHosts: undefined } as const
  const check =
    (url: string, change = {}) =>
    () =>
      checkTarget(new URL(url), { ...rules, ...change })

  test.each([
    ['http://example.com/', /allowHttp/],
    ['ftp://example.com/', /https only/],
    ['file:///etc/passwd', /https only/],
    ['https://user@example.com/', /user name/],
    ['https://:word@example.com/', /user name/],
    ['https://example.com:22/', /port/],
    ['https://example.com:80/', /port/],
  ])('refused: %s', (url, message) => {
    expect(check(url)).toThrow(expect.objectContaining({ code: 'SSRF_BLOCKED', message: expect.stringMatching(message) }))
  })

  test.each(['https://example.com/', 'https://example.com:443/', 'https://example.com:8443/x?y', 'https://1.1.1.1/'])(
    'taken: %s',
    (url) => {
      expect(check(url)).not.toThrow()
    },
  )

  test('hosts that are named, and those below them', () => {
    const allowHosts = hostTest(['hooks.example.com', '*.example.org'])
    for (const host of ['hooks.example.com', 'hooks.example.com.', 'a.example.org', 'a.b.example.org'])
      expect(check(`https://${host}/`, { allowHosts })).not.toThrow()
    for (const host of ['example.com', 'a.hooks.example.com', 'example.org', 'evil-example.org', 'example.org.evil.com'])
      expect(check(`https://${host}/`, { allowHosts }), host).toThrow(/allowHosts/)
  })
})

test('proxies of the environment have no say', async () => {
  const [proxy, server] = [await receiver(), await receiver()]
  const before = { ...process.env }
  process.env['HTTP_PROXY'] = process.env['http_proxy'] = process.env['ALL_PROXY'] = `http://127.0.0.1:${proxy.port}`
  process.env['NODE_USE_ENV_PROXY'] = '1'
  try {
    await using engine = openInThread()
    engine.work([webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any' })])
    await (await engine.enqueue(webhookJob, { url: server.url })).result()
  } finally {
    process.env = before
  }
  expect([proxy.connections, server.received.length]).toEqual([0, 1])
})
