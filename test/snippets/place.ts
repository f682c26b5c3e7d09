/** Folders in which snippets for the shell are run: with a file of jobs, and with what the snippets name. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'
import type { TestContext } from 'vitest'
import { environmentOf } from '../app/shell.ts'
import { freePort } from '../freePorts.ts'
import { BLOCKS, type Block, isShell, ROOT } from './blocks.ts'
import { isElsewhere, isNotRun } from './held.ts'

/** Blocks that a reader runs one after the other. */
export interface Unit {
  readonly place: string
  readonly script: string
  /** Configuration that the page shows. */
  readonly toml: string | undefined
}

const TOKEN = 'a-token-of-this-test-0123456789'
/** A script that takes longer has failed. */
const LIMIT_MS = 90_000
const MAIN = join(ROOT, 'apps/millrace/dist/main.js')
const PRELUDE = readFileSync(new URL('prelude.sh', import.meta.url), 'utf8')

const isRun = (block: Block): boolean => isShell(block) && !isElsewhere(block) && !isNotRun(block)

/** The reference: each line is an example of its own. Of other sections, a reader runs the blocks one after the other. */
const isReference = ({ page, heading }: Block): boolean => page === 'docs/cli.md' && heading.startsWith('`millrace ')

/** Returns what is run, by itself: a section of a page, or a line of the reference. */
export function unitsOf(choose: (unit: Unit) => boolean = () => true): readonly Unit[] {
  const pages = Map.groupBy(
    BLOCKS.filter((block) => isRun(block) && !isReference(block)),
    ({ page, heading }) => `${page} ${heading}`,
  )
  const tomls = Map.groupBy(
    BLOCKS.filter(({ language }) => language === 'toml'),
    ({ page }) => page,
  )
  const together = [...pages].map(([, blocks]) => {
    const [{ page, place }] = blocks as [Block]
    return { place, script: blocks.map(({ text }) => text).join('\n'), toml: tomls.get(page)?.[0]?.text }
  })
  const alone = BLOCKS.filter((block) => isRun(block) && isReference(block)).flatMap(({ place, text }) =>
    linesOf(text).map((script) => ({ place: `${place} ${script.trim()}`, script, toml: undefined })),
  )
  return [...together, ...alone].filter(choose)
}

/** True for a unit that test/postgres/snippets.test.ts runs, beside a server. */
export const needsServer = ({ place, script }: Unit): boolean =>
  /\b(?:postgres|redis|mongodb):/.test(script) || place.startsWith('docs/postgres.md')

const linesOf = (text: string): string[] => text.split(/(?<!\\)\n(?!$)/)

/** Files that snippets name, by their names. */
export const FILES: Readonly<Record<string, string>> = {
  'handlers.ts': `import { defineJob } from '@millrace/worker'
export const mail = defineJob({ name: 'mail' }).handler(({ data }) => {
  if (data?.fails) throw new Error('no such address')
})\n`,
  'jobs.ts': `export { mail } from './handlers.ts'\n`,
  'users.json': '{"users":[{"to":"ada"},{"to":"grace"}]}\n',
  'users.ndjson': '{"to":"ada"}\n{"to":"grace"}\n',
  'jobs.ndjson': '{"name":"mail","data":{"to":"ada"},"options":{"queue":"out"}}\n',
  'orders.ndjson': '{"total":1}\n\n# no order\n{"total":2}\nnot JSON\n',
  'data.json': '{"day":"monday"}\n',
  'millrace.config.toml': '[exec.list]\nshell = true\nfile = "ls"\n',
}

interface Given {
  readonly when: RegExp
  /** Run before the script. */
  readonly run: string
}

const WORKER = 'millrace worker start --handlers ./handlers.ts --id worker-1a2b3c4d --detach'

/** What a snippet takes for granted. */
export const GIVEN: readonly Given[] = [
  { when: /doctor --file \/backups\//, run: 'millrace backup /backups/jobs-monday.db' },
  { when: /^millrace migrate --check *#/, run: 'millrace migrate' },
  {
    when: /^MILLRACE_POSTGRES=\S+ millrace migrate --to/,
    run: 'rm jobs.db && MILLRACE_POSTGRES=postgres://queue@db.example/app millrace migrate',
  },
  { when: /queues (?:delete|drain) mail/, run: 'millrace jobs delete --queue mail --yes' },
  { when: /schedules add nightly/, run: 'millrace schedules delete nightly --yes' },
  { when: /worker-1a2b3c4d|^millrace worker stop --all|queues drain|events -f/, run: WORKER },
  { when: /^(?!.*millrace serve).*(?:https?:\/\/127\.0\.0\.1:\d+|\.sock\b|db-socket|millrace open)/s, run: 'millrace serve' },
  { when: /token (?:revoke|list)|millrace audit/, run: 'millrace token create ci' },
  { when: /webhooks (?:enable|disable|delete) billing/, run: 'millrace webhooks add billing https://example.com/hooks --events completed' },
]

const ID = '01990a5e-7f00-7000-8000-000000400001'

/** The file that each place begins with, and the job that a command is about. */
export interface Template {
  readonly folder: string
  readonly idFor: (command: string) => string
}

export async function prepare(): Promise<Template & AsyncDisposable> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-snippets-')))
  const engine = await openEngine({ file: join(folder, 'jobs.db'), logger: null })
  const add = async (name: string, options: object = {}, data: unknown = null) => (await engine.enqueue(name, data, options)).id
  const failed = await add('mail', { queue: 'mail', maxAttempts: 1, tags: ['customer:7'] }, { fails: true })
  const completed = await add('mail', { queue: 'mail' })
  const mail = defineJob<{ fails: boolean } | null>({ name: 'mail' }).handler(async ({ data, log, step }) => {
    log('info', 'sending')
    if (data?.fails !== true) return
    await step('charge', () => 'charged')
    throw new Error('no such address')
  })
  const worker = engine.work(mail)
  // The busiest queues are those of docs/http.md.
  const many = ['mail', 'media'].flatMap((queue) => Array.from({ length: 20 }, () => ({ job: 'mail', data: null, options: { queue } })))
  const handles = [...(await engine.enqueueMany(many)), engine.handle(failed), engine.handle(completed)]
  await Promise.allSettled(handles.map((handle) => handle.result()))
  await worker.stop()
  const waiting = await add('report', { tags: ['customer:7'], priority: 1 })
  const scheduled = await add('report', { queue: 'mail', delay: '1h' })
  await add('rebuild', { unique: { key: 'index' } })
  await add('pay', { idempotencyKey: 'order:17' })
  const flow = await engine.flow([
    { ref: 'a', job: 'fetch', data: 1 },
    { ref: 'b', job: 'publish', data: 2, dependsOn: ['a'] },
  ])
  await engine.schedules.upsert('nightly', { cron: '0 3 * * *' }, { job: 'report', data: null })
  await engine.stop()
  const ids: Readonly<Record<string, string>> = {
    'jobs retry': failed,
    'jobs run': scheduled,
    'jobs logs': completed,
    'flows show': flow.id,
  }
  return {
    folder,
    idFor: (command) => ids[command] ?? waiting,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Surroundings {
  /** What stands for names of the page, such as the address of a server. */
  readonly instead?: Readonly<Record<string, string>>
  readonly env?: NodeJS.ProcessEnv
}

/** Runs the blocks of a unit in one bash. */
export async function runUnit(
  { script, toml }: Unit,
  template: Template,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { instead = {}, env = {} }: Surroundings = {},
): Promise<Ended> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-snippet-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  furnish(folder, toml, template)
  const port = await freePort()
  const place = (text: string) => placedIn(text, folder, port as number, template, instead)
  const placed = place(script)
  const given = GIVEN.filter(({ when }) => when.test(script)).map(({ run }) => place(`${run} > given.log\n`))
  writeFileSync(join(folder, 'script.sh'), [PRELUDE, ...given, placed, 'leave\n'].join('\n'))
  const variables = {
    NODE: process.execPath,
    MAIN,
    // For a bash whose test was killed.
    LIMIT_S: String(LIMIT_MS / 1_000 + 10),
    // As every program that a test starts (test/built.ts).
    NODE_OPTIONS: process.env['NODE_OPTIONS'],
    QUEUE_TOKEN: TOKEN,
    TOKEN,
    MILLRACE_TOKEN: TOKEN,
    MILLRACE_HTTP_PORT: String(port),
    PORT: '0',
    DISPLAY: '',
    WAYLAND_DISPLAY: '',
    ...env,
  }
  const surroundings = { cwd: folder, env: environmentOf(folder, variables) }
  // Detached workers are in no group: they end by their records, also those of a script that fails.
  if (/--detach/.test(placed + given)) {
    onTestFinished(async () => {
      const stop = spawn(process.execPath, [MAIN, 'worker', 'stop', '--all', '--timeout', '1ms'], { ...surroundings, stdio: 'ignore' })
      await once(stop, 'close')
    })
  }
  // A process group of its own: whatever else a script leaves behind ends with it.
  const bash = spawn('bash', ['script.sh'], { ...surroundings, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const endGroup = () => {
    try {
      process.kill(-(bash.pid as number), 'SIGKILL')
    } catch {
      // As it is to be: nothing is left.
    }
  }
  const tooLong = setTimeout(endGroup, LIMIT_MS)
  onTestFinished(endGroup)
  const read = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    bash[name].setEncoding('utf8').on('data', (text: string) => {
      read[name] += text
    })
  const closed = once(bash, 'close')
  const [code] = (await once(bash, 'exit')) as [number | null]
  clearTimeout(tooLong)
  endGroup()
  await closed
  return { code, ...read }
}

/** Puts into the folder what scripts name. */
function furnish(folder: string, toml: string | undefined, template: Template): void {
  for (const name of ['jobs.db', 'millrace.db']) cpSync(join(template.folder, 'jobs.db'), join(folder, name))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
  if (toml !== undefined) writeFileSync(join(folder, 'millrace.config.toml'), toml)
  symlinkSync(join(ROOT, 'test/node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  mkdirSync(join(folder, 'backups'))
}

function placedIn(script: string, folder: string, port: number, template: Template, instead: Readonly<Record<string, string>>): string {
  const paths = {
    '/run/app/queue.sock': `${folder}/millrace.db-socket`,
    '/srv/app/jobs.db-socket': `${folder}/millrace.db-socket`,
    '/backups/': `${folder}/backups/`,
    // A port of its own in place of one that may be taken.
    8080: String(port),
    7410: String(port),
    '--duration 30s': '--duration 30ms',
    // At a terminal it asks.
    'queues purge mail': 'queues purge mail --yes',
    ...instead,
  }
  const placed = Object.entries(paths).reduce((text, [path, other]) => text.replaceAll(path, other), script)
  return placed.replace(
    new RegExp(`millrace (\\w+ \\w+)(.*?)${ID}`, 'g'),
    (_, command, between) => `millrace ${command}${between}${template.idFor(command)}`,
  )
}
