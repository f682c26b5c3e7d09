/** Every option is checked before anything happens, and its error names it; no error tells a secret. */
import { type ConnectOptions, connect, type ListenOptions, listen } from '@millrace/remote'
import { expect, test } from 'vitest'

const engine = {
  openPort(): never {
    throw new Error('nobody connects here')
  },
}
const secret = 'secret'

test.each<[unknown, string, string]>([
  [{ tokens: 'x' }, 'OPTION_TYPE', 'tokens'],
  [{ token: 7 }, 'OPTION_TYPE', 'token'],
  [{ token: secret }, 'OPTION_RANGE', 'token'],
  [{ token: [] }, 'OPTION_RANGE', 'token'],
  [{ token: [{ token: secret }] }, 'OPTION_RANGE', 'token[0].token'],
  [{ token: [{ token: secret.repeat(4), scopes: ['root'] }] }, 'OPTION_TYPE', 'token[0].scopes'],
  [{ token: [{ token: secret.repeat(4), scopes: [] }] }, 'OPTION_TYPE', 'token[0].scopes'],
  [{ token: [{ token: secret.repeat(4), scope: 'work' }] }, 'OPTION_TYPE', 'scope'],
  [{ authenticate: secret }, 'OPTION_TYPE', 'authenticate'],
  [{ authenticate: () => [], token: secret.repeat(4) }, 'OPTION_TYPE', 'authenticate'],
  [{ maxConnections: 0 }, 'OPTION_RANGE', 'maxConnections'],
  [{ maxConnectionsPerAddress: 1.5 }, 'OPTION_TYPE', 'maxConnectionsPerAddress'],
  [{ maxUnauthenticated: '64' }, 'OPTION_TYPE', 'maxUnauthenticated'],
  [{ maxUnreadBytes: 64 * 2 ** 20 - 1 }, 'OPTION_RANGE', 'maxUnreadBytes'],
  [{ helloTimeout: '5 minutes' }, 'OPTION_TYPE', 'helloTimeout'],
  [{ helloTimeout: '1h' }, 'OPTION_RANGE', 'helloTimeout'],
  [{ logger: {} }, 'OPTION_TYPE', 'logger'],
  [null, 'OPTION_TYPE', 'options'],
])('listen with %o', async (options, code, option) => {
  await expect(listen(engine, 'tcp://127.0.0.1:0', options as ListenOptions)).rejects.toMatchObject({
    code,
    option,
    message: expect.not.stringContaining(secret),
  })
})

test.each<[unknown, string, string]>([
  [{ tokn: secret }, 'OPTION_TYPE', 'tokn'],
  [{ token: secret }, 'OPTION_RANGE', 'token'],
  [{ tls: { ca: secret } }, 'OPTION_TYPE', 'tls.ca'],
  [{ tls: { rejectUnauthorized: 1 } }, 'OPTION_TYPE', 'tls.rejectUnauthorized'],
  [{ connectTimeout: 1 }, 'OPTION_RANGE', 'connectTimeout'],
  [{ maxDataBytes: 2 ** 30 }, 'OPTION_RANGE', 'maxDataBytes'],
  [{ reconnect: { minDelay: 0 } }, 'OPTION_RANGE', 'reconnect.minDelay'],
  [{ reconnect: { minDelay: 500, maxDelay: 100 } }, 'OPTION_RANGE', 'reconnect.maxDelay'],
  [{ reconnect: { delay: 5 } }, 'OPTION_TYPE', 'delay'],
  [{ journal: 5 }, 'OPTION_TYPE', 'options'],
  [{ journal: '' }, 'OPTION_RANGE', 'journal'],
  [{ journal: {} }, 'OPTION_TYPE', 'journal.folder'],
  [{ journal: { folder: '' } }, 'OPTION_RANGE', 'journal.folder'],
  [{ journal: { folder: secret, maxBytes: 0 } }, 'OPTION_RANGE', 'journal.maxBytes'],
  [{ journal: { folder: secret, maxBytes: '1 MiB' } }, 'OPTION_TYPE', 'journal.maxBytes'],
  [{ journal: { folder: secret, max: 5 } }, 'OPTION_TYPE', 'max'],
])('connect with %o', async (options, code, option) => {
  await expect(connect('tcp://127.0.0.1:9', options as ConnectOptions)).rejects.toMatchObject({
    code,
    option,
    message: expect.not.stringContaining(secret),
  })
})

test('where nobody listens, connect tries until its time is over, and says where and why', async () => {
  await expect(connect('unix:/nowhere/at/all.sock', { connectTimeout: 200 })).rejects.toMatchObject({
    name: 'ConnectFailedError',
    code: 'CONNECT_FAILED',
    retryable: true,
    message: expect.stringMatching(/unix:\/nowhere\/at\/all\.sock.*ENOENT/),
  })
})
