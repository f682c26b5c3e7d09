/** The schema of all settings of the daemon. It checks and types them, and is the source of the reference in docs/configuration.md. */
import {
  type BackoffOptions,
  backoffOption,
  booleanOption,
  checkKnown,
  choiceOption,
  DEFAULT_SCHEMA,
  type Duration,
  durationOption,
  type EventType,
  headerTokenOption,
  INSTANCE_COLOURS,
  instanceNameOption,
  integerOption,
  type KeepOptions,
  LIMITS,
  nameOption,
  OptionTypeError,
  QUEUE_ORDERS,
  type RetentionOptions,
  retentionOption,
} from '@millrace/core'
import type { CommandSpec } from '@millrace/exec'
import type { Secret } from '@millrace/webhooks'
import { z } from 'zod'
import { endless, jobDefaults, named, queue, schedule } from './queues.ts'
import { checked, read, section, setting, settingOr, text, texts } from './setting.ts'

const duration = (option: string, min: number, max: number) =>
  read<number, Duration>((value) => durationOption(option, value, { min, max }))
const integer = (option: string, min: number, max: number) => read<number, number>((value) => integerOption(option, value, min, max))
const flag = (option: string) => read<boolean, boolean>((value) => booleanOption(option, value))
const choice = <const Choice extends string>(option: string, choices: readonly Choice[]) =>
  read<Choice, Choice>((value) => choiceOption(option, value, choices))
const kept = (state: 'completed' | 'failed' | 'cancelled') =>
  checked<KeepOptions>((value) => retentionOption('retention', { [state]: value }))

const MIB = 2 ** 20
const DAY_MS = 86_400_000

const retention = section({
  completed: setting(
    kept('completed'),
    'How long completed jobs are kept: a duration, or `{ age, count }`. Default 7 days, and 1,000,000 jobs a queue.',
  ),
  failed: setting(kept('failed'), 'The same for failed jobs. Default 30 days, and 1,000,000 jobs a queue.'),
  cancelled: setting(kept('cancelled'), 'The same for cancelled jobs. Default 7 days, and 1,000,000 jobs a queue.'),
  journal: setting(
    checked<NonNullable<RetentionOptions['journal']>>((value) => retentionOption('retention', { journal: value })),
    'How long events are kept: a duration, or `{ age, bytes }`. Default 7 days, and 1 GiB.',
  ),
})

const tls = section({
  key: setting(text('key'), 'Path of the private key (PEM) of `tls://` listeners and of HTTP; with it HTTP becomes HTTPS.'),
  cert: setting(text('cert'), 'Path of the certificate chain (PEM).'),
  ca: setting(text('ca'), 'Path of the authority that signs the certificates of clients (PEM).'),
  requestCert: settingOr(flag('requestCert'), false, 'Clients must show a certificate signed by `tls.ca`. Requires `tls.ca`.'),
})

const sockets = section({
  maxConnections: settingOr(
    integer('maxConnections', 1, 100_000),
    2_000,
    'The most connections of each address of `listen`: 1 to 100,000.',
  ),
  maxConnectionsPerAddress: settingOr(
    integer('maxConnectionsPerAddress', 1, 100_000),
    100,
    'The same from one network address (in IPv6 from one /64), except over Unix sockets: 1 to 100,000.',
  ),
  maxUnauthenticated: settingOr(
    integer('maxUnauthenticated', 1, 100_000),
    64,
    'The most connections that have not greeted yet: 1 to 100,000.',
  ),
  maxUnreadBytes: settingOr(
    integer('maxUnreadBytes', 64 * MIB, 65_536 * MIB),
    256 * MIB,
    'The most bytes of answers that clients have not read yet, over all connections: 64 MiB to 64 GiB. Above it, the connection with the most is closed.',
  ),
  helloTimeout: settingOr(duration('helloTimeout', 100, 60_000), '5s', 'How long a new connection has to greet: 100 ms to a minute.'),
})

const http = section({
  enabled: settingOr(flag('enabled'), true, 'Serves HTTP.'),
  host: settingOr(
    text('host'),
    '127.0.0.1',
    'The address at which HTTP is served. An address that other machines can reach requires TLS, or `http.allowInsecure`.',
  ),
  allowedHosts: setting(
    texts('allowedHosts', 'names'),
    'The names under which HTTP is served: `jobs.example.com`, or `*.example.com`. Addresses and `localhost` always pass. By default every name does.',
  ),
  port: settingOr(integer('port', 0, 65_535), 7410, 'Port of HTTP: 0 to 65,535. 0 chooses a free one. `PORT` sets it too.'),
  allowInsecure: settingOr(
    flag('allowInsecure'),
    false,
    'Serves without TLS where others can reach it: behind a proxy, or in a container.',
  ),
  maxBodyBytes: settingOr(
    integer('maxBodyBytes', 1_024, 64 * MIB),
    MIB,
    'The most bytes of one request, except for imports: 1 KiB to 64 MiB.',
  ),
  rateLimit: setting(
    checked<{ readonly limit: number; readonly period?: Duration }>(checkRate),
    'How many requests each token may make: `{ limit, period }`, up to 1,000,000 in up to 1 h. Default no limit.',
  ),
  headersTimeout: settingOr(
    duration('headersTimeout', 1_000, 600_000),
    '10s',
    'How long the head of a request may take to arrive, and before it a TLS handshake: 1 s to 10 m.',
  ),
  requestTimeout: settingOr(duration('requestTimeout', 1_000, DAY_MS), '30s', 'How long a whole request may take to arrive: 1 s to 24 h.'),
  keepAliveTimeout: settingOr(duration('keepAliveTimeout', 0, 600_000), '5s', 'How long an idle connection is kept: 0 to 10 m.'),
  maxConnections: settingOr(integer('maxConnections', 1, 100_000), 2_000, 'The most connections at a time: 1 to 100,000.'),
  maxHeaderBytes: settingOr(integer('maxHeaderBytes', 1_024, MIB), 16 * 1_024, 'The most bytes of the head of a request: 1 KiB to 1 MiB.'),
  trustProxy: settingOr(flag('trustProxy'), false, 'Takes the client’s address from `X-Forwarded-For`: only behind a proxy that sets it.'),
  instance: section({
    name: setting(
      read<string, string>((value) => instanceNameOption('name', value)),
      'The name of this installation for people, such as `production`: 1 to 64 characters.',
    ),
    colour: setting(
      choice('colour', INSTANCE_COLOURS),
      'The colour that marks its pages: blue, green, grey, orange, pink, purple, red or yellow.',
    ),
  }),
  dashboard: section({
    enabled: settingOr(flag('enabled'), true, 'Serves the dashboard at `/`. Without it there is a page with links.'),
    redact: settingOr(
      texts('redact', 'paths'),
      [],
      'Paths of payloads whose values no answer shows, such as `data.user.email` or `*.password`: up to 100.',
    ),
    frameAncestors: settingOr(
      texts('frameAncestors', 'origins'),
      [],
      'Pages that may show the dashboard in a frame: `self`, or origins such as `https://admin.example.com`.',
    ),
  }),
})

const log = section({
  level: settingOr(
    choice('level', ['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    'info',
    'The lowest level that is logged: `debug` (each HTTP request; `trace` is the same), `info`, `warn`, `error` or `silent`.',
  ),
  format: settingOr(
    choice('format', ['auto', 'json', 'pretty']),
    'auto',
    '`json` prints one object a line, `pretty` is for people, and `auto` is pretty on a terminal.',
  ),
  redact: settingOr(
    texts('redact', 'paths'),
    [],
    'Paths whose values are not written, such as `job.data.password` or `*.email`, besides tokens and secrets.',
  ),
})

const otel = section({
  enabled: settingOr(flag('enabled'), false, 'Sends spans of enqueues over HTTP, and of runs, to an OpenTelemetry collector.'),
  endpoint: setting(read<string, string>(collectorOption), {
    text: 'The URL of the collector, which accepts OTLP over HTTP. Default `OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`.',
    secret: 'url',
  }),
})

const execLogs = section({
  folder: setting(text('folder'), 'The folder that keeps the whole output of commands, a log for each run. Default none.'),
  maxLogBytes: settingOr(
    integer('maxLogBytes', 4_096, 2 ** 40),
    64 * MIB,
    'The most bytes of the log of one run, in up to three files: 4 KiB to 1 TiB.',
  ),
  maxFolderBytes: settingOr(
    integer('maxFolderBytes', 4_096, 2 ** 40),
    1_024 * MIB,
    'The most bytes of all logs together: 4 KiB to 1 TiB. The oldest are removed first.',
  ),
  maxLogAge: settingOr(duration('maxLogAge', 60_000, LIMITS.durationMs), '7d', 'Older logs are removed: at least 1 m.'),
})

const webhooks = section({
  enabled: settingOr(flag('enabled'), false, 'Delivers jobs of type `http`, and events to their endpoints.'),
  secrets: setting(checked<Readonly<Record<string, Secret>>>(secretsOf), {
    text: 'Secrets by name. A `whsec_` secret, or two while one replaces the other, signs for endpoints only; `{ keys, hosts }` signs jobs to these hosts.',
    secret: true,
  }),
  allowPrivate: settingOr(flag('allowPrivate'), false, 'Delivers to private addresses and to this machine too.'),
  allowHttp: settingOr(flag('allowHttp'), false, 'Delivers without TLS too.'),
  ports: setting(
    checked<readonly number[] | 'any'>(portsOf),
    'The ports that deliveries may use: a list, or `any`. Default 443 and 8443, with `allowHttp` also 80 and 8080.',
  ),
  allowHosts: setting(
    texts('allowHosts', 'hosts'),
    'The only hosts of deliveries: `example.com`, or `*.example.com` for those below it. Default all.',
  ),
  perHost: settingOr(integer('perHost', 1, 1_000), 5, 'The most deliveries to one host at a time: 1 to 1,000.'),
  timeout: settingOr(duration('timeout', 1, DAY_MS), '15s', 'Time limit of one delivery, unless its job sets one: 1 ms to 24 h.'),
  maxTimeout: setting(
    duration('maxTimeout', 1, DAY_MS),
    'The longest time limit that a job may set: `webhooks.timeout`, which is the default, to 24 h.',
  ),
  maxBodyBytes: settingOr(
    integer('maxBodyBytes', 0, 16 * MIB),
    256 * 1_024,
    'The most bytes of a request: 0 to 16 MiB. `maxDataBytes` and `http.maxBodyBytes` also limit a job.',
  ),
  maxAttempts: setting(
    integer('maxAttempts', 1, LIMITS.maxAttempts),
    'Attempts of a webhook in total, unless its job or its queue sets them: 1 to 100,000. Default 10.',
  ),
  backoff: setting(
    checked<BackoffOptions>((value) => backoffOption('backoff', value)),
    'Delay between attempts of a webhook, unless its job or its queue sets it: `{ type, delay, factor, maxDelay, jitter }`. Default exponential from 5 s, factor 5, at most 24 h.',
  ),
  concurrency: settingOr(
    integer('concurrency', 1, LIMITS.concurrency),
    64,
    'Jobs of type `http` that the daemon runs at a time, apart from commands and handlers: 1 to 100,000.',
  ),
  eventConcurrency: settingOr(
    integer('eventConcurrency', 1, LIMITS.concurrency),
    16,
    'Deliveries to endpoints, in the queue `webhooks`, that the daemon runs at a time, apart from these: 1 to 100,000.',
  ),
  maxResponseBytes: settingOr(
    integer('maxResponseBytes', 0, 160 * 1_024),
    64 * 1_024,
    'The most bytes of an answer that are stored: 0 to 160 KiB.',
  ),
})

const endpoint = section({
  url: setting(text('url'), {
    text: 'The URL to which events are posted, as webhooks of the queue `webhooks`. Required.',
    secret: 'url',
  }),
  secret: setting(text('secret'), 'The name of one of `webhooks.secrets`, which no other endpoint has.'),
  headers: setting(checked<Readonly<Record<string, string>>>(textsByName), { text: 'Headers of each request.', secret: true }),
  events: setting(
    texts('events', 'types of events') as z.ZodType<readonly EventType[]>,
    'Types of events, such as `completed` and `failed`. Required.',
  ),
  queues: setting(texts('queues', 'names of queues'), 'Only events of jobs in these queues.'),
  names: setting(texts('names', 'names of jobs'), 'Only events of jobs with these names.'),
})

const worker = section({
  id: setting(
    read<string, string>((value) => nameOption('id', value)),
    'Name of the daemon’s own worker, also with `-commands`, `-webhooks` and `-events` behind it. Default random.',
  ),
  concurrency: settingOr(
    integer('concurrency', 1, LIMITS.concurrency),
    16,
    'Jobs of `worker.handlers` that it runs at a time: 1 to 100,000.',
  ),
  execConcurrency: settingOr(
    integer('execConcurrency', 1, LIMITS.concurrency),
    16,
    'Commands (`exec`) that it runs at a time, apart from these: 1 to 100,000.',
  ),
  queues: setting(
    texts('queues', 'names of queues'),
    'The only queues that it serves. Default every queue. A name that ends with `*` is a prefix: `mail-*`.',
  ),
  order: setting(
    choice('order', QUEUE_ORDERS),
    'The order of `worker.queues`. With `fair`, the default, they take turns. With `strict`, a later queue waits until no earlier one has a job to start.',
  ),
  handlers: settingOr(
    texts('handlers', 'paths of modules'),
    [],
    'Modules that export handlers. A path begins at the folder where the daemon was started.',
  ),
  abortGrace: settingOr(
    duration('abortGrace', 0, DAY_MS),
    '30s',
    'How long an aborted handler may take to settle: 0 to 24 h, and more than `killGrace` (10 s) of each command.',
  ),
})

export const SCHEMA = z.strictObject({
  file: settingOr(
    text('file'),
    'millrace.db',
    'Path of the database file, created if it does not exist. With `postgres`, only the control database, the token and the socket use this path.',
  ),
  postgres: setting(text('postgres'), {
    text: 'Keeps the queue in Postgres: `postgres://user:password@host:port/database`. It must name the server itself, not a pooler.',
    secret: true,
  }),
  schema: settingOr(text('schema'), DEFAULT_SCHEMA, 'The schema of Postgres that holds the queue, created if it does not exist.'),
  role: settingOr(
    choice('role', ['any', 'client', 'owner']),
    'any',
    'With `postgres`: `any` owns the schema or attaches to its owner, `client` only attaches, `owner` only owns.',
  ),
  ownerAddress: setting(
    text('ownerAddress'),
    'With `postgres`: the host, or `host:port`, at which other processes reach this one if it is the owner. The default is the address from which it reaches Postgres, and a free port.',
  ),
  transport: settingOr(
    choice('transport', ['auto', 'socket', 'postgres']),
    'auto',
    'With `postgres`: the way from other processes to the owner, a `socket` or through `postgres`. `auto` tries a socket three times first.',
  ),
  durability: settingOr(
    choice('durability', ['full', 'normal']),
    'full',
    '`full` syncs before it answers; `normal` may lose the last commits on power loss.',
  ),
  recovery: settingOr(
    choice('recovery', ['immediate', 'backoff']),
    'immediate',
    'Jobs of workers that died run again at once (`immediate`), or after their backoff (`backoff`).',
  ),
  share: settingOr(flag('share'), true, 'Other processes of this user that open the file attach to the daemon.'),
  waitForOwner: settingOr(duration('waitForOwner', 0, DAY_MS), '10s', 'How long to wait for another owner of the file to go: 0 to 24 h.'),
  readers: settingOr(integer('readers', 0, 8), 1, 'Threads that answer lists: 0 to 8.'),
  cache: settingOr(integer('cache', 1, 4_096), 16, 'The writer’s page cache in MiB: 1 to 4,096.'),
  maxQueues: settingOr(
    integer('maxQueues', 1, 1_000_000),
    LIMITS.queues,
    'The most queues that the file may have: up to 1,000,000. Calls that would create another one are refused (`TOO_MANY_QUEUES`).',
  ),
  maxDataBytes: settingOr(
    integer('maxDataBytes', 1, LIMITS.bytesPerCommand),
    LIMITS.dataBytes,
    'The most bytes of data, output and checkpoint each, from any sender: up to 16 MiB.',
  ),
  secureDelete: settingOr(flag('secureDelete'), false, 'Overwrites deleted content with zeros.'),
  autoMigrate: settingOr(
    flag('autoMigrate'),
    true,
    'Tables of an older version are migrated at the start. If false, they are refused until `millrace migrate` has run.',
  ),
  unsafeFilesystem: settingOr(
    choice('unsafeFilesystem', ['refuse', 'allow']),
    'refuse',
    '`allow` opens files on network file systems, which lose locks and syncs, and files with hard links, which would have one owner per name.',
  ),
  fileAccess: setting(
    choice('fileAccess', ['owner', 'group']),
    'Users who may read and write the queue’s files: `owner` (mode 0600), or `group` (0660). By default new files are 0600, and only files that every user can read are changed.',
  ),
  token: setting(
    read<string, string>((value) => headerTokenOption('token', value)),
    {
      text: 'An admin token beside those of `millrace token create`: 16 to 512 characters.',
      secret: true,
    },
  ),
  listen: setting(
    texts('listen', 'addresses'),
    'Addresses at which workers and producers attach: `unix:`, `tcp://` and `tls://`. Default `<file>-socket`. An empty list opens none.',
  ),
  sockets,
  retention,
  defaults: jobDefaults,
  tls,
  http,
  log,
  otel,
  queues: named(queue),
  schedules: named(schedule),
  exec: named(
    setting(checked<CommandSpec>(objectOf), { text: 'A command that jobs of this name run, as in docs/exec.md.', secret: ['env', 'set'] }),
  ),
  execLogs,
  webhooks,
  endpoints: named(endpoint),
  worker,
  shutdown: section({
    timeout: settingOr(
      endless('timeout', 0),
      '30s',
      'How long running jobs may take to finish after SIGTERM, before their signals abort; Infinity for as long as it takes.',
    ),
  }),
})

export type Config = z.output<typeof SCHEMA>

function checkRate(value: unknown): void {
  checkKnown('rateLimit', value, new Set(['limit', 'period']))
  integerOption('rateLimit.limit', value['limit'], 1, 1_000_000)
  durationOption('rateLimit.period', value['period'] ?? 1_000, { min: 1, max: 3_600_000 })
}

function collectorOption(value: unknown): string {
  if (typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '')) return value
  throw new OptionTypeError('endpoint', "endpoint must be a URL of http or https without the path of traces, as 'http://collector:4318'")
}

function portsOf(value: unknown): void {
  if (value === 'any') return
  if (!Array.isArray(value) || value.length === 0) throw new OptionTypeError('ports', "ports must be a list of numbers, or 'any'")
  for (const port of value) integerOption('ports', port, 1, 65_535)
}

function textsByName(value: unknown): void {
  if (typeof value !== 'object' || value === null || !Object.values(value).every((each) => typeof each === 'string'))
    throw new OptionTypeError('headers', "headers must be { name: 'value' }")
}

function secretsOf(value: unknown): void {
  const text = (secret: unknown) => typeof secret === 'string' && secret.startsWith('whsec_')
  const keys = (secret: unknown) => text(secret) || (Array.isArray(secret) && secret.every(text))
  const good = (secret: unknown) => keys(secret) || (typeof secret === 'object' && secret !== null && 'keys' in secret && keys(secret.keys))
  const ok = typeof value === 'object' && value !== null && Object.values(value).every(good)
  // The message never contains the value.
  if (!ok)
    throw new OptionTypeError(
      'secrets',
      "secrets must be { name: 'whsec_...' } or { name: { keys: 'whsec_...', hosts: ['example.com'] } }, or lists of keys",
    )
}

function objectOf(value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OptionTypeError('exec', 'a command must be an object, as { file: "/usr/bin/convert", args: ["{{from}}", "{{to}}"] }')
}
