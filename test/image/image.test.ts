// The container image, built from the Dockerfile without a daemon: what is in it, and that it serves as Kubernetes would run it.
import {
  chownSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../freePorts.ts'
import { startCommand } from '../program.ts'
import { buildahIn, commitBase, likeHere, must, whyNot } from './tools.ts'

const LONG = { timeout: 1_800_000 }
const BASE = 'localhost/millrace-base:test'
const TAG = 'localhost/millrace:test'
const IMAGE_SCRIPT = fileURLToPath(new URL('../../apps/millrace/image.ts', import.meta.url))
const { version } = JSON.parse(readFileSync(new URL('../../apps/millrace/package.json', import.meta.url), 'utf8')) as { version: string }
/** The number of the user in the image. */
const UID = 1000
/** The app with its packages: without the base, and before compression. It has 92 MB today. */
const APP_MAX_BYTES = 120 * 2 ** 20

const MILLRACE = ['node', 'apps/millrace/src/main.ts'] as const
const HANDLERS = `
import { defineJob } from '@millrace/worker'
export const mail = defineJob<{ to: string }>({ name: 'mail' }).handler(({ data }) => \`sent to \${data.to}\`)
`

interface Image {
  readonly config: {
    readonly User: string
    readonly Env: readonly string[]
    readonly Entrypoint: readonly string[]
    readonly Cmd: readonly string[]
    readonly ExposedPorts: object
    readonly Volumes: object
    readonly StopSignal: string
    readonly Labels: Readonly<Record<string, string>>
    readonly Healthcheck: { readonly Test: readonly string[] }
  }
  readonly rootfs: { readonly diff_ids: readonly string[] }
}

const why = whyNot()
let folder: string
let image: Image
/** What `umoci` has unpacked for a runtime: `rootfs`, and `config.json`. */
let bundle: string

beforeAll(() => {
  if (why !== undefined) return
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-image-')))
  const env = buildahIn(folder)
  commitBase(folder, BASE, env)
  must(process.execPath, [IMAGE_SCRIPT, '--builder', 'buildah', '--base', BASE, '--tag', TAG, '--', ...likeHere()], env)
  image = JSON.parse(JSON.parse(must('buildah', ['inspect', '--type', 'image', TAG], env)).Config) as Image
  must('buildah', ['push', '--quiet', '--format', 'oci', TAG, `oci:${join(folder, 'oci')}:image`], env)
  bundle = join(folder, 'bundle')
  must('umoci', ['unpack', '--image', `${join(folder, 'oci')}:image`, bundle])
}, LONG.timeout)

afterAll(() => {
  if (folder === undefined) return
  must('buildah', ['rm', '--all'], buildahIn(folder))
  must('buildah', ['rmi', '--all', '--force'], buildahIn(folder))
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

const within = (pattern: string) => globSync(pattern, { cwd: join(bundle, 'rootfs/app'), exclude: ['node_modules/**/node_modules/.bin'] })

test('T9: says who runs it, how, where, and how to see that it is well', ({ skip }) => {
  if (why !== undefined) skip(`no image: ${why}`)
  const { config } = image
  expect(config).toMatchObject({
    User: `${UID}:${UID}`,
    Entrypoint: ['node', 'apps/millrace/src/main.ts'],
    Cmd: ['serve'],
    ExposedPorts: { '7410/tcp': {} },
    Volumes: { '/data': {} },
    StopSignal: 'SIGTERM',
    Env: expect.arrayContaining(['NODE_ENV=production', 'MILLRACE_FILE=/data/jobs.db']),
  })
  expect(config.Healthcheck.Test.join(' ')).toContain('/readyz')
  const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`]
  expect({ title: label('title'), version: label('version'), licenses: label('licenses') }).toEqual({
    ...{ title: 'millrace', version, licenses: 'MIT' },
  })
  expect(label('revision')).toMatch(/^(?:[\da-f]{40}|unknown)$/)
  // The base and the app: what a build needs in between is in no layer.
  expect(image.rootfs.diff_ids).toHaveLength(2)
})

test('has the app and what it needs; no tests, no tools, no sources of the page, and nothing that the user may write', ({ skip }) => {
  if (why !== undefined) skip(`no image: ${why}`)
  expect(within('packages/*/src/index.ts').length).toBeGreaterThan(10)
  expect(within('apps/dashboard/dist/page/index.html')).toHaveLength(1)
  for (const strays of [
    '{apps,packages}/**/*.test.ts*',
    '{apps,packages}/*/src/**/testing/**',
    'apps/dashboard/src/page',
    '{bench,docs,test}',
    'packages/import',
    'packages/testkit',
  ])
    expect(
      within(strays).filter((path) => !path.includes('node_modules')),
      strays,
    ).toEqual([])
  const packages = within('node_modules/.pnpm/*').map((path) => path.replace(/^node_modules\/\.pnpm\//, ''))
  expect(packages.length).toBeGreaterThan(50)
  // Of the development of the page and of the packages: none is there.
  const root = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).devDependencies
  const page = JSON.parse(readFileSync(new URL('../../apps/dashboard/package.json', import.meta.url), 'utf8')).devDependencies
  const tools = Object.keys({ ...root, ...page }).filter((name) => !name.startsWith('@millrace/') && !name.startsWith('@types/'))
  expect(tools.length).toBeGreaterThan(8)
  expect(packages.filter((name) => tools.some((tool) => name.startsWith(`${tool.replace('/', '+')}@`)))).toEqual([])

  let bytes = 0
  for (const path of within('**')) {
    const entry = lstatSync(join(bundle, 'rootfs/app', path))
    bytes += entry.size
    // Not those of others, and not what others may write.
    if (entry.uid !== 0 || (!entry.isSymbolicLink() && (entry.mode & 0o022) !== 0))
      throw new Error(`${path} belongs to ${entry.uid}, with the mode ${entry.mode.toString(8)}`)
  }
  expect(bytes).toBeLessThan(APP_MAX_BYTES)
  expect(lstatSync(join(bundle, 'rootfs/data')).uid).toBe(UID)
})

test('T9: serves with a read-only root, no capability and only its volume to write; SIGTERM ends it well', LONG, async ({ skip }) => {
  if (why !== undefined) skip(`no image: ${why}`)
  const data = join(folder, 'data')
  mkdirSync(data)
  chownSync(data, UID, UID)
  const port = await freePort()
  contain(data, [`PORT=${port}`, 'MILLRACE_HTTP_HOST=127.0.0.1', 'MILLRACE_STATE_DIR=/tmp/state'])
  // As the guide's image of a worker has them.
  mkdirSync(join(bundle, 'rootfs/app/handlers'))
  writeFileSync(join(bundle, 'rootfs/app/handlers/jobs.ts'), HANDLERS)
  const runc = ['runc', '--root', join(folder, 'runc')] as const
  const name = `millrace-test-${process.pid}`
  const daemon = startCommand([...runc, 'run', '--bundle', bundle, name])
  let over = false
  onTestFinished(() => {
    if (!over) must(runc[0], [...runc.slice(1), 'delete', '--force', name])
  })
  const { url } = JSON.parse(await daemon.said(/"msg":"serving"/)) as { readonly url: string }
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await (await fetch(url)).text()).toContain('<meta name="base-path"')
  const authorization = `Bearer ${readFileSync(join(data, 'jobs.db-token'), 'utf8').trim()}`
  const body = JSON.stringify({ job: 'mail', data: { to: 'ada' } })
  const accepted = await fetch(`${url}/v1/jobs`, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body })
  expect(accepted.status).toBe(201)
  // The command line and the health check of the image, in the same container.
  const inside = (...command: string[]) => must(runc[0], [...runc.slice(1), 'exec', name, ...command])
  expect(inside(...MILLRACE, 'status')).toMatch(/1 waiting/)
  const worker = startCommand([...runc, 'exec', name, ...MILLRACE, 'worker', 'start', '--handlers', '/app/handlers/jobs.ts'])
  expect(inside(...MILLRACE, 'enqueue', 'mail', '{"to":"bob"}', '--wait', '--wait-timeout', '2m')).toBe('"sent to bob"\n')
  expect(inside(...MILLRACE, 'worker', 'stop', '--all')).toMatch(/stopped\n$/)
  expect(await worker.ended).toMatchObject({ code: 0 })
  const [kind, ...check] = image.config.Healthcheck.Test as [string, ...string[]]
  expect(kind).toBe('CMD')
  inside(...check)
  expect(() => inside('sh', '-c', 'touch /app/new')).toThrow(/Read-only file system/)
  expect(inside('id', '-u').trim()).toBe(String(UID))

  must(runc[0], [...runc.slice(1), 'kill', name, 'TERM'])
  expect(await daemon.ended).toMatchObject({ code: 0 })
  over = true
  expect(daemon.lines.at(-1)).toContain('"msg":"closed"')
  expect(existsSync(join(data, 'jobs.db-wal'))).toBe(false)
})

/** As a Pod with the restricted profile: nothing but `/data` and `/tmp` can be written. The network is that of this machine. */
function contain(data: string, env: readonly string[]): void {
  const file = join(bundle, 'config.json')
  const spec = JSON.parse(readFileSync(file, 'utf8'))
  spec.process.terminal = false
  spec.process.noNewPrivileges = true
  spec.process.env.push(...env)
  spec.process.capabilities = Object.fromEntries(Object.keys(spec.process.capabilities).map((kind) => [kind, []]))
  spec.root.readonly = true
  spec.linux.namespaces = spec.linux.namespaces.filter(({ type }: { readonly type: string }) => type !== 'network')
  spec.mounts = spec.mounts.filter(({ destination }: { readonly destination: string }) => destination !== '/data' && destination !== '/tmp')
  spec.mounts.push(
    { destination: '/data', type: 'bind', source: data, options: ['rbind', 'rw'] },
    { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
  )
  writeFileSync(file, JSON.stringify(spec))
}
