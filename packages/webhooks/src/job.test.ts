import { backoffDelay, ValidationError } from '@millrace/core'
import { expect, test } from 'vitest'
import { openInThread } from '../../testkit/src/testing/inThread.ts'
import { type WebhookData, webhookJob } from './job.ts'

const url = 'https://example.com/hook'

test.each<[string, unknown, string]>([
  ['nothing', undefined, ''],
  ['bytes', new Uint8Array(1), ''],
  ['no URL', {}, 'url'],
  ['a URL that is none', { url: 'https://' }, 'url'],
  ['a control character in a URL', { url: `${url}\u0001` }, 'url'],
  ['a line break in a URL', { url: `${url}\n` }, 'url'],
  ['a blank in a URL', { url: `${url}/a b` }, 'url'],
  ['half of a character in a URL', { url: `${url}/\ud800` }, 'url'],
  ['another scheme', { url: 'javascript:alert(1)' }, 'url'],
  ['a relative URL', { url: '/hook' }, 'url'],
  ['an unknown name', { url, bodi: 1 }, 'bodi'],
  ['an unknown method', { url, method: 'TRACE' }, 'method'],
  ['a method in small letters', { url, method: 'post' }, 'method'],
  ['a body of a GET', { url, method: 'GET', body: 1 }, 'body'],
  ['two bodies', { url, body: 1, bytes: 'AAAA' }, 'bytes'],
  ['bytes that are no base64', { url, bytes: 'A' }, 'bytes'],
  ['bytes whose last digit holds more than it should', { url, bytes: 'AB==' }, 'bytes'],
  ['headers that are none', { url, headers: [] }, 'headers'],
  ['a line break in a header', { url, headers: { 'x-a': 'b\r\nwebhook-id: c' } }, 'headers.x-a'],
  ['a name that is none', { url, headers: { 'x a': 'b' } }, 'headers.x a'],
  ['a number', { url, headers: { 'x-a': 1 } }, 'headers.x-a'],
  ['too many headers', { url, headers: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`x-${index}`, 'a'])) }, 'headers'],
  ['headers too large', { url, headers: { 'x-a': 'b'.repeat(8_200) } }, 'headers'],
  ...['Host', 'Connection', 'Content-Length', 'Transfer-Encoding', 'Proxy-Authorization', 'Webhook-Id', 'Millrace-Attempt', 'Expect'].map(
    (name): [string, unknown, string] => [name, { url, headers: { [name]: 'x' } }, `headers.${name}`],
  ),
  ['a password in the URL', { url: 'https://ada:word@example.com/' }, 'url'],
  ['a user in the URL', { url: 'https://ada@example.com/' }, 'url'],
  ['a secret itself', { url, secret: 'whsec_AAAA' }, 'secret'],
  ['no secret', { url, secret: '' }, 'secret'],
  ['no time', { url, timeout: 0 }, 'timeout'],
  ['too long a time', { url, timeout: '25h' }, 'timeout'],
])('refused when it is enqueued: %s', async (_what, data, path) => {
  await using engine = openInThread()
  const refused: ValidationError = await engine.enqueue(webhookJob, data as WebhookData).then(
    () => expect.unreachable(),
    (error) => error,
  )
  expect(refused).toBeInstanceOf(ValidationError)
  expect(refused.issues.map((issue) => issue.path?.join('.') ?? '')).toEqual([path])
})

test('bytes of many megabytes are checked', async () => {
  await using engine = openInThread({ maxDataBytes: 16 * 2 ** 20 })
  const { created } = await engine.enqueue(webhookJob, { url, bytes: Buffer.alloc(6 * 2 ** 20).toString('base64') })
  expect(created).toBe(true)
})

test('letters of any language in a URL are taken', async () => {
  await using engine = openInThread()
  const data = { url: 'https://bücher.example/😀?q=ä' }
  const { id } = await engine.enqueue(webhookJob, data)
  expect((await engine.get(id))?.data).toEqual(data)
})

test('what was enqueued by its plain name is looked at before it is run', async () => {
  await using engine = openInThread()
  engine.work([webhookJob.handler(() => expect.unreachable())])
  const handle = await engine.enqueue('http', { url: 'gopher://x' })
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
  expect((await engine.get(handle.id))?.attempts).toMatchObject([{ error: { name: 'ValidationError' } }])
})

test('tried 10 times, within about three days', () => {
  const { backoff, maxAttempts } = webhookJob.defaults
  const delays = Array.from({ length: (maxAttempts ?? 0) - 1 }, (_, index) => backoffDelay(backoff as never, index + 1, 0.5) / 1_000)
  expect(delays).toEqual([5, 25, 125, 625, 3_125, 15_625, 72_000, 72_000, 72_000])
})
