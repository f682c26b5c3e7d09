/** What the container file, the compose file and the unit of systemd tell a daemon: as they stand, without an image and without systemd. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SCHEMA } from '../../apps/millrace/src/config/schema/schema.ts'
import { freePort } from '../freePorts.ts'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { startDaemonHere } from './daemon.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LONG = 300_000
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** With lines that go on joined. */
const DOCKERFILE = read('apps/millrace/Dockerfile').replaceAll(/\\\n */g, ' ')
const COMPOSE = read('apps/millrace/compose.yaml')
const UNIT = read('apps/millrace/systemd/millrace.service')

/** Of the last stage, where there are several. */
function instruction(name: string): string {
  const found = [...DOCKERFILE.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].at(-1)?.[1]
  if (found === undefined) throw new Error(`the container file has no ${name}`)
  return found
}

const assignments = (text: string) => Object.fromEntries(text.split(/ +/).map((pair) => pair.split('=') as [string, string]))

/** Its exit code. */
async function run([file, ...args]: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const [code] = await once(spawn(file as string, args, { env: { ...process.env, ...env }, stdio: 'ignore' }), 'close')
  return code as number
}

test('T9: what the container file and the compose file say is understood; healthy while it serves, drained by its signal', {
  timeout: LONG,
}, async () => {
  for (const sources of DOCKERFILE.matchAll(/^COPY (?!--)(.*) \S+$/gm))
    for (const path of sources[1]?.split(' ') ?? []) expect(statSync(join(ROOT, path)).size, path).toBeGreaterThan(0)
  const folder = temporaryFolder()
  const port = await freePort()
  const composed = [...COMPOSE.matchAll(/^ {6}(MILLRACE_\w+): (.*)$/gm)].map(([, name, value]) => [
    name,
    value === `\${${name}:-}` ? '' : value,
  ])
  expect(composed.map(([name]) => name)).toEqual(['MILLRACE_SHUTDOWN_TIMEOUT', 'MILLRACE_TOKEN'])
  const env: Record<string, string> = { ...assignments(instruction('ENV')), ...Object.fromEntries(composed), PORT: String(port) }
  expect(env['MILLRACE_FILE']).toBe(`${instruction('VOLUME')}/jobs.db`)
  env['MILLRACE_FILE'] = join(folder, 'jobs.db')
  const [node, main = '', ...args] = [...JSON.parse(instruction('ENTRYPOINT')), ...JSON.parse(instruction('CMD'))] as string[]
  expect(node).toBe('node')
  const healthcheck = JSON.parse(/CMD (\[.*\])$/.exec(instruction('HEALTHCHECK'))?.[1] ?? '') as string[]
  const check = [process.execPath, ...healthcheck.slice(1)]
  expect(await run(check, env)).toBe(1)
  const daemon = startProgram(new URL(main, new URL('../../', import.meta.url)), args, [
    ...['env', '-C', folder],
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
  ])
  const { url } = JSON.parse(await daemon.said(/"msg":"serving"/)) as { url: string }
  expect(url).toBe(`http://0.0.0.0:${port}`)
  expect(await run(check, env)).toBe(0)
  daemon.child.kill(instruction('STOPSIGNAL') as NodeJS.Signals)
  expect((await daemon.ended).code).toBe(0)
  // An empty MILLRACE_TOKEN is none: the first run has made one, where the compose file says.
  expect(readFileSync(join(folder, 'jobs.db-token'), 'utf8')).toMatch(/^mr_/)
})

test('a stop has the time that the defaults may take', () => {
  const { shutdown, worker } = SCHEMA.parse({})
  // For the last answers over HTTP, and to close the file.
  const atLeastS = (shutdown.timeout + worker.abortGrace) / 1_000 + 20
  expect(Number(/^TimeoutStopSec=(\d+)s$/m.exec(UNIT)?.[1])).toBeGreaterThanOrEqual(atLeastS)
  expect(Number(/^ {4}stop_grace_period: (\d+)s$/m.exec(COMPOSE)?.[1])).toBeGreaterThanOrEqual(atLeastS)
})

test('the ports and the volume of the compose file are those of the container file', () => {
  const port = instruction('EXPOSE')
  expect(COMPOSE).toContain(`      - 127.0.0.1:${port}:${port}\n`)
  expect(COMPOSE).toContain(`      - data:${instruction('VOLUME')}\n`)
  expect(DOCKERFILE).toContain(`|| ${port}}/readyz`)
})

test('pnpm image has the flags that the guide lists, and refuses a builder that it does not know', () => {
  const image = (...args: string[]) => spawnSync(process.execPath, [join(ROOT, 'apps/millrace/image.ts'), ...args], { encoding: 'utf8' })
  const flags = [...image('--help').stdout.matchAll(/^ {2}(--[\w-]+ <.*?>)/gm)].map(([, flag]) => flag)
  expect(flags.length).toBeGreaterThan(3)
  expect([...read('docs/containers.md').matchAll(/^\| `(--[\w-]+ <.*?>)` \|/gm)].map(([, flag]) => flag)).toEqual(flags)
  expect(image('--builder', 'kaniko')).toMatchObject({
    status: 1,
    stderr: 'image: --builder must be docker, podman, buildah, got kaniko\n',
  })
})

test('the unit of systemd has no fault, and what it sets is understood', { timeout: LONG }, async ({ skip }) => {
  const folder = temporaryFolder()
  const main = join(ROOT, 'apps/millrace/src/main.ts')
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(UNIT) ?? []
  expect(command).toBe('/usr/bin/node /opt/millrace/apps/millrace/src/main.ts serve')
  const [, variables = ''] = /^Environment=(.*)$/m.exec(UNIT) ?? []
  const env = { ...assignments(variables), MILLRACE_FILE: join(folder, 'jobs.db'), MILLRACE_HTTP_PORT: '0' }
  const daemon = startDaemonHere(folder, { env })
  await daemon.serving
  daemon.signal('SIGTERM')
  expect((await daemon.ended).code).toBe(0)

  const unit = join(folder, 'millrace.service')
  writeFileSync(unit, UNIT.replace(command, `${process.execPath} ${main} serve`).replace(/^(WorkingDirectory=).*$/m, `$1${ROOT}`))
  const { error, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' })
  if (error !== undefined) skip(`systemd-analyze cannot be run: ${error.message}`)
  // It names what it passes over, and ends with 0 all the same.
  expect(stdout + stderr).toBe('')
})
