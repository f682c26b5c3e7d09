import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { shown } from './hidden.ts'
import { KEYS, secretIn } from './keys.ts'
import { loadConfig, type Sources } from './load.ts'

type Files = Readonly<Record<string, string | Buffer>>

function folder(files: Files = {}): string {
  const cwd = mkdtempSync(join(tmpdir(), 'millrace-config-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  return cwd
}

const load = (sources: Omit<Sources, 'cwd'> = {}, files: Files = {}) => loadConfig({ cwd: folder(files), ...sources })

test('nothing said: the defaults, on loopback, and each says that it is one', async () => {
  const { config, origins } = await load()
  expect(config).toMatchObject({
    file: 'millrace.db',
    durability: 'full',
    http: { host: '127.0.0.1', port: 7410, headersTimeout: 10_000 },
    shutdown: { timeout: 30_000 },
  })
  expect(config.listen).toBeUndefined()
  expect([...origins.values()].every(({ layer }) => layer === 'default')).toBe(true)
})

const LAYERS: readonly (readonly [
  name: string,
  set: (key: string, value: string) => { files?: Record<string, string>; sources?: Omit<Sources, 'cwd'> },
])[] = [
  ['millrace.config.json', (key, value) => ({ files: { 'millrace.config.json': json(key, value) } })],
  [
    'millrace.config.json ($production)',
    (key, value) => ({
      files: { 'millrace.config.json': `{"$production":${json(key, value)}}` },
      sources: { env: { NODE_ENV: 'production' } },
    }),
  ],
  ['millrace.config.local.json', (key, value) => ({ files: { 'millrace.config.local.json': json(key, value) } })],
  [
    'millrace.config.local.json ($production)',
    (key, value) => ({
      files: { 'millrace.config.local.json': `{"$production":${json(key, value)}}` },
      sources: { env: { MILLRACE_ENV: 'production', NODE_ENV: 'test' } },
    }),
  ],
  [
    'environment',
    (key, value) => ({
      sources: {
        env: {
          [`MILLRACE_${key
            .replace(/([A-Z])/g, '_$1')
            .replaceAll('.', '_')
            .toUpperCase()}`]: value,
        },
      },
    }),
  ],
  ['flag', (key, value) => ({ sources: { flags: { [key]: value } } })],
]

function json(key: string, value: string): string {
  return JSON.stringify(
    key.split('.').reduceRight((inner: unknown, part) => ({ [part]: inner }), /^\d+$/.test(value) ? Number(value) : value),
  )
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  file: ['a.db', 'b.db'],
  durability: ['normal', 'full'],
  'http.port': ['1001', '1002'],
  'http.maxBodyBytes': ['2000', '3000'],
  'log.level': ['debug', 'warn'],
  'retention.completed': ['1d', '2d'],
}

const at = (config: unknown, key: string) =>
  String(key.split('.').reduce((inner, part) => (inner as Record<string, unknown>)[part], config))

const PAIRS = Object.keys(VALUES).flatMap((key) =>
  LAYERS.flatMap(([upper], index) => LAYERS.slice(0, index).map(([lower]) => [key, lower, upper] as const)),
)

test.each(PAIRS)('M12, N10: of %s %s is below %s', async (key, lower, upper) => {
  const [low, high] = VALUES[key] as [string, string]
  const below = (LAYERS.find(([name]) => name === lower) as (typeof LAYERS)[number])[1](key, low)
  const above = (LAYERS.find(([name]) => name === upper) as (typeof LAYERS)[number])[1](key, high)
  const files: Record<string, string> = { ...below.files }
  for (const [name, text] of Object.entries(above.files ?? {}))
    files[name] = JSON.stringify({ ...JSON.parse(files[name] ?? '{}'), ...JSON.parse(text) })
  const env = { MILLRACE_ENV: 'production', ...below.sources?.env, ...above.sources?.env }
  const { config, origins } = await load({ env, flags: { ...below.sources?.flags, ...above.sources?.flags } }, files)
  expect(at(config, key)).toBe(high)
  const { name, layer } = origins.get(key) as { name: string; layer: string }
  expect([name, layer]).toContain(upper)
})

test('sections are merged, and a setting replaces the one below as a whole', async () => {
  const files = {
    'millrace.config.toml':
      '[queues.mail]\nmaxLength = 5\nconcurrencyLimit = 2\n[queues.mail.retention]\ncompleted = { age = "1d", count = 5 }\n[http]\nport = 1\n',
    'millrace.config.local.toml':
      '[queues.mail]\nmaxLength = 6\n[queues.mail.retention]\ncompleted = { count = 7 }\n[http]\nhost = "localhost"\n',
  }
  const { config, origins } = await load({ env: { MILLRACE_QUEUES: '{"mail":{"share":3}}' } }, files)
  expect(config.queues['mail']).toMatchObject({ maxLength: 6, concurrencyLimit: 2, share: 3, retention: { completed: { count: 7 } } })
  expect(config.queues['mail']?.retention.completed).toEqual({ count: 7 })
  expect(config.http).toMatchObject({ port: 1, host: 'localhost' })
  expect(origins.get('queues.mail.maxLength')).toEqual({ layer: 'local file', name: 'millrace.config.local.toml' })
  expect(origins.get('queues.mail.concurrencyLimit')?.name).toBe('millrace.config.toml')
  expect(origins.get('queues.mail.share')?.name).toBe('MILLRACE_QUEUES')
})

test.each([
  ['millrace.config.ts', "import type {} from 'node:fs'\nconst file: string = 'made.db'\nexport default { file }\n"],
  ['millrace.config.mjs', "export default () => ({ file: 'made.db' })\n"],
  ['millrace.config.json', '{"file":"made.db"}'],
  ['millrace.config.toml', 'file = "made.db"\n'],
])('reads %s, with a byte order mark, too', async (name, text) => {
  for (const content of [text, `\uFEFF${text}`]) {
    const { config, origins } = await load({}, { [name]: content })
    expect([config.file, origins.get('file')?.name]).toEqual(['made.db', name])
  }
})

test('a file by name, which has to be there', async () => {
  const files = { 'other.json': '{"file":"other.db"}', 'millrace.config.json': '{"file":"usual.db"}' }
  expect((await load({ configFile: 'other.json' }, files)).config.file).toBe('other.db')
  expect((await load({ env: { MILLRACE_CONFIG: 'other.json' } }, files)).config.file).toBe('other.db')
  await expect(load({ configFile: 'none.json' })).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining('none.json') })
})

test('two files of one layer are one too many', async () => {
  const files = { 'millrace.config.json': '{}', 'millrace.config.toml': '' }
  await expect(load({}, files)).rejects.toMatchObject({
    message: 'there is more than one configuration file: keep one of millrace.config.json and millrace.config.toml',
  })
})

test.each(['millrace.config.yaml', 'millrace.config.yml', 'millrace.config.cjs', 'millrace.config.local.json5'])(
  '%s is not read, and not passed over in silence',
  async (name) => {
    await expect(load({}, { 'millrace.config.json': '{}', [name]: '' })).rejects.toMatchObject({
      message: `${name} is not read: a configuration file ends in .ts, .mts, .js, .mjs, .json, .toml. Rename or convert it`,
    })
  },
)

test('T9: PORT is below MILLRACE_HTTP_PORT, and empty variables are none', async () => {
  expect((await load({ env: { PORT: '81' } })).config.http.port).toBe(81)
  expect((await load({ env: { PORT: '81', MILLRACE_HTTP_PORT: '82' } })).config.http.port).toBe(82)
  expect((await load({ env: { PORT: '', MILLRACE_HTTP_PORT: '' } })).config.http.port).toBe(7410)
})

test('what is told to the command line is no setting', async () => {
  const env = {
    MILLRACE_URL: 'unix:/run/queue',
    MILLRACE_STATE_DIR: '/var/lib/millrace',
    MILLRACE_IMPORT_URL: 'redis://localhost:6379',
    MILLRACE_COMPLETION_TIMEOUT: '1s',
  }
  expect((await load({ env })).config.http.port).toBe(7410)
})

test('what Kubernetes tells of a service of that name is no setting', async () => {
  const env = {
    MILLRACE_SERVICE_HOST: '10.0.0.1',
    MILLRACE_SERVICE_PORT: '7410',
    MILLRACE_PORT: 'tcp://10.0.0.1:7410',
    MILLRACE_PORT_7410_TCP_ADDR: '10.0.0.1',
  }
  expect((await load({ env })).config.http.port).toBe(7410)
})

test.each<readonly [Omit<Sources, 'cwd'>, Files, string]>([
  [{}, { 'millrace.config.toml': 'retenton = "1d"' }, "unknown key 'retenton' in millrace.config.toml: did you mean 'retention'?"],
  [{}, { 'millrace.config.json': '{"port":1}' }, "unknown key 'port' in millrace.config.json: did you mean 'http.port'?"],
  [
    {},
    { 'millrace.config.json': '{"queues":{"mail":{"maxLenght":1}}}' },
    "unknown key 'queues.mail.maxLenght' in millrace.config.json: did you mean 'maxLength'?",
  ],
  [{}, { 'millrace.config.json': '{"extends":"gh:some/one"}' }, "unknown key 'extends' in millrace.config.json"],
  [
    {},
    { 'millrace.config.local.json': '{"$test":{"fil":"x"}}' },
    "unknown key 'fil' in millrace.config.local.json ($test): did you mean 'file'?",
  ],
  [{ env: { MILLRACE_HTTP_PRT: '1' } }, {}, "unknown variable 'MILLRACE_HTTP_PRT' in the environment: did you mean 'MILLRACE_HTTP_PORT'?"],
  [{ flags: { 'log.levle': 'info' } }, {}, "unknown key 'log.levle' among the flags: did you mean 'log.level'?"],
  [{}, { 'millrace.config.json': '{"http":5}' }, "'http' in millrace.config.json must be an object of settings"],
  [{}, { 'millrace.config.json': '[]' }, 'millrace.config.json must be an object of settings'],
  ...['toml', 'json', 'ts'].flatMap((format) =>
    [Buffer.from('\uFEFFfile = "x"', 'utf16le'), Buffer.from('file = "x"', 'utf16le'), Buffer.from('\uFEFFfile', 'utf16le').swap16()].map(
      (text) =>
        [{}, { [`millrace.config.${format}`]: text }, `millrace.config.${format} cannot be read: it is UTF-16: save it as UTF-8`] as const,
    ),
  ),
  [{}, { 'millrace.config.toml': Buffer.from('file = "\u00fc.db"', 'latin1') }, 'millrace.config.toml cannot be read: it is not UTF-8'],
  [{}, { 'millrace.config.toml': 'file = ' }, 'millrace.config.toml cannot be read'],
  [{}, { 'millrace.config.json': '{"queues":{"__proto__":{"maxLength":1}}}' }, '__proto__'],
])('%j %j', async (sources, files, message) => {
  await expect(load({ env: { NODE_ENV: 'test' }, ...sources }, files)).rejects.toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining(message),
  })
})

test.each<[string, unknown, string]>([
  ['http.port', '99999', "'http.port' in --http-port: port must be between 0 and 65535, got 99999"],
  ['http.port', 'many', "'http.port' in --http-port: port must be a whole number"],
  ['http.enabled', '1', "'http.enabled' in --http-enabled: enabled must be true or false"],
  ['token', 'short', "'token' in --token: token must have 16 to 512 characters"],
  ['log.level', 'inf', "did you mean 'info'?"],
  ['http.headersTimeout', '5', "'http.headersTimeout' in --http-headers-timeout: headersTimeout must be at least 1000 ms, got 5"],
  ['durability', 'none', "durability must be 'full' or 'normal'"],
  ['retention.completed', 'soon', "'retention.completed' in --retention-completed: retention.completed must be a duration"],
  ['queues', '{"mail":{"maxLength":0}}', "'queues.mail.maxLength' in --queues: maxLength must be between 1 and"],
  [
    'queues',
    '{"mail":{"keyOrder":"strict","perKeyLimit":4}}',
    "'queues.mail.perKeyLimit' in --queues: perKeyLimit must be 1 or left out if keyOrder is 'strict', got 4",
  ],
  ['queues', '{"mail room":{"maxLength":1}}', "'queues.mail room' in --queues: its name has"],
  ['queues', '{"mail":{"defaults":{"backoff":{"type":"none"}}}}', 'backoff.type'],
  ['schedules', '{"a":{"cron":"every day","job":"x"}}', "'schedules.a.cron' in --schedules: cron"],
  ['schedules', '{"a":{"cron":"@daily"}}', "'schedules.a.job' in --schedules: a schedule names its job"],
  [
    'schedules',
    '{"a":{"every":"1s","startAt":"then","job":"x"}}',
    "'schedules.a.startAt' in --schedules: startAt must be a Date, milliseconds since 1970, or an ISO 8601 string with its zone",
  ],
  [
    'schedules',
    '{"a":{"every":"1s","endAt":"2026-11-31T00:00:00Z","job":"x"}}',
    `its zone ('2030-01-31T12:00:00Z'), got "2026-11-31T00:00:00Z"`,
  ],
  ['webhooks.secrets', '{"a":"password"}', 'secrets must be'],
  ['http.rateLimit', '{"limit":0}', 'rateLimit.limit'],
  ['listen', 5, 'listen must be a list of addresses'],
  ['queues', 'mail', "'queues' in --queues must be an object of settings, as JSON"],
])('%s = %j', async (key, value, message) => {
  await expect(load({ flags: { [key]: value } })).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(message) })
})

test('all that is wrong is told at once', async () => {
  await expect(load({ flags: { 'http.port': -1, 'log.format': 'xml' } })).rejects.toMatchObject({
    problems: [expect.stringContaining('http.port'), expect.stringContaining('log.format')],
  })
})

test('a secret is not told, neither in what is shown nor in what is wrong', async () => {
  const secret = 'whsec_abcdefghijklmnopqrstuvwxyz'
  const { settings } = await load({ flags: { token: secret, 'webhooks.secrets': { one: secret } } })
  expect(settings.filter(({ value }) => value === '[redacted]').map(({ key }) => key)).toEqual(['token', 'webhooks.secrets'])
  expect(JSON.stringify(settings)).not.toContain(secret)
  await expect(load({ flags: { 'webhooks.secrets': { one: `not ${secret}` } } })).rejects.toMatchObject({
    message: expect.not.stringContaining('whsec_abc'),
  })
})

test('headers of endpoints, and what commands have in their environment, are not shown', async () => {
  const secret = 'key-0123456789'
  const endpoint = { url: 'https://a.example', secret: 'one', headers: { authorization: secret }, events: ['failed'] }
  const exec = { file: '/bin/true', env: { set: { API_KEY: secret }, inherit: ['PATH'] } }
  const { settings, config } = await load({ flags: { endpoints: { a: endpoint }, exec: { a: exec, b: { file: '/bin/false' } } } })
  const of = (key: string) => settings.find((each) => each.key === key)?.value
  expect(of('endpoints.a.headers')).toBe('[redacted]')
  expect(of('endpoints.a.url')).toBe('https://a.example')
  expect(of('exec.a')).toEqual({ file: '/bin/true', env: { set: '[redacted]', inherit: ['PATH'] } })
  expect(of('exec.b')).toEqual({ file: '/bin/false' })
  expect(JSON.stringify(settings)).not.toContain(secret)
  expect(config).toMatchObject({ endpoints: { a: endpoint }, exec: { a: exec } })
})

const CREDENTIALS = ['ada:hunter2', 'hunter2', ':hunter2', 'ada:hun/ter2#?', 'ada:hunter2@x']

test.each(CREDENTIALS)('no setting shows the credentials %s of a URL in it, at any depth', (credentials) => {
  for (const { key, secret } of KEYS)
    for (const value of [
      `https://${credentials}@host.example/path`,
      [`tcp://${credentials}@host.example:1`],
      { a: { b: [`see postgres://${credentials}@host.example/db, please`] } },
      JSON.stringify({ url: `https://${credentials}@host.example` }),
    ]) {
      expect(JSON.stringify(shown(value, secret)), key).not.toMatch(/hun|ter2/)
      expect(secretIn(key, JSON.stringify(value)), key).toBe(key)
    }
})

test.each([
  ['http://collector:4318', 'http://collector:4318'],
  ['https://collector/', 'https://collector'],
  ['https://hooks.example/services/T0/secret', 'https://hooks.example/[redacted]'],
  ['https://hooks.example?key=secret', 'https://hooks.example/[redacted]'],
  ['https://hooks.example/#secret', 'https://hooks.example/[redacted]'],
  ['https://ada:secret@hooks.example:8443/secret', 'https://[redacted]@hooks.example:8443/[redacted]'],
  ['secret', '[redacted]'],
])('of the URL %s only the host is shown', async (url, wanted) => {
  expect(KEYS.filter(({ secret }) => secret === 'url').map(({ key }) => key)).toEqual(['otel.endpoint', 'endpoints.<name>.url'])
  const { settings } = await load({}, { 'millrace.config.json': JSON.stringify({ endpoints: { a: { url } } }) })
  expect(settings.find(({ key }) => key === 'endpoints.a.url')?.value).toBe(wanted)
})

test('what has no credentials is shown as it was written', () => {
  for (const value of [
    'https://host/@scope/x',
    'a@b.example',
    'unix:/tmp/a@b',
    'tcp://127.0.0.1:7411',
    '*.example.com',
    'C:\\a',
    5,
    null,
    [1],
  ])
    expect(shown(value, undefined)).toEqual(value)
})

test('what is shown is in the order of the reference, as it was written', async () => {
  const { settings } = await load(
    { env: { MILLRACE_HTTP_PORT: '80' }, flags: { file: 'x.db' } },
    { 'millrace.config.json': '{"queues":{"a.b":{"maxLength":5}},"shutdown":{"timeout":"1m"}}' },
  )
  const shown = settings.filter(({ origin }) => origin.layer !== 'default').map(({ key, value, origin }) => [key, value, origin.name])
  expect(shown).toEqual([
    ['file', 'x.db', '--file'],
    ['http.port', 80, 'MILLRACE_HTTP_PORT'],
    ['queues."a.b".maxLength', 5, 'millrace.config.json'],
    ['shutdown.timeout', '1m', 'millrace.config.json'],
  ])
})
