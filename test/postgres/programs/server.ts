/**
 * Runs a Postgres in a temporary folder until stdin ends, and removes the folder. The stdin of this program ends with the process that
 * started it, also if that one is killed. It prints the server's URL once it accepts connections.
 *
 *     node server.ts FOLDER [durable]    the folder has bin, lib and share; a durable server syncs, so that a crash loses nothing
 */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { NOBODY } from '../nobody.ts'

const isWindows = process.platform === 'win32'

/** The tests of one run share the server, and nothing of it has to survive. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '64MB',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Fewer processes, which the tests would pay for.
  io_method: 'sync',
  max_logical_replication_workers: '0',
  max_parallel_workers: '0',
  // No checkpoint within a run.
  checkpoint_timeout: '1h',
  max_wal_size: '8GB',
  lc_messages: 'C',
}

const DURABLE = { fsync: 'on', full_page_writes: 'on' }

const [folder = '', durable] = process.argv.slice(2)
const place = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
const data = join(place, 'data')

process.once('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 3 }))
// Whoever waits for the URL may be gone.
process.stdout.on('error', () => process.exit(1))

const ended = once(process.stdin.resume(), 'close')
if (NOBODY !== undefined) chownSync(place, NOBODY.uid, NOBODY.gid)
await createData()

const port = isWindows ? await freePort() : 5_432
const where = isWindows
  ? { listen_addresses: '127.0.0.1', port: `${port}` }
  : { listen_addresses: '', port: `${port}`, unix_socket_directories: place }
const settings = Object.entries({ ...SETTINGS, ...(durable !== undefined && DURABLE), ...where }).flatMap(([name, value]) => [
  '-c',
  `${name}=${value}`,
])
const server = spawn(join(folder, 'bin/postgres'), ['-D', data, ...settings], {
  cwd: place,
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  ...NOBODY,
})
const exited = once(server, 'exit')
const log: string[] = []
createInterface({ input: server.stderr }).on('line', (line) => {
  log.push(line)
  if (log.length > 100) log.shift()
  if (line.includes('ready to accept connections')) process.stdout.write(`${urlOf()}\n`)
})

if ((await Promise.race([ended.then(() => 'ended'), exited.then(() => 'exited')])) === 'exited') {
  process.stderr.write(`${log.join('\n')}\n`)
  process.exit(1)
}
// At once: nothing is to be kept.
server.kill('SIGQUIT')
await exited
process.exit(0)

/** Copies an empty cluster, which the first run creates beside the programs: to create one takes 2 s of processor time. */
async function createData(): Promise<void> {
  const options = ['--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-locale', '--no-sync', '--no-instructions']
  const digest = createHash('sha256').update(options.join(' ')).digest('hex').slice(0, 8)
  const made = `${folder}-data-${digest}`
  if (existsSync(made)) {
    cpSync(made, data, { recursive: true })
  } else {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' }
    await promisify(execFile)(join(folder, 'bin/initdb'), ['--pgdata', data, ...options], { cwd: place, env, ...NOBODY })
    keepData(made)
  }
  // The server takes no folder that others may read, and none of another user.
  chmodSync(data, 0o700)
  if (NOBODY !== undefined) own(data, NOBODY)
}

/** Copies aside, and renames, so that no other process takes half of it for the whole. */
function keepData(made: string): void {
  const aside = mkdtempSync(`${made}.`)
  try {
    cpSync(data, join(aside, 'data'), { recursive: true })
    renameSync(join(aside, 'data'), made)
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(made)) throw error
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

function own(at: string, user: NonNullable<typeof NOBODY>): void {
  chownSync(at, user.uid, user.gid)
  for (const entry of readdirSync(at, { recursive: true, encoding: 'utf8' })) chownSync(join(at, entry), user.uid, user.gid)
}

function urlOf(): string {
  return isWindows
    ? `postgres://postgres@127.0.0.1:${port}/postgres`
    : `postgres://postgres@localhost/postgres?host=${encodeURIComponent(place)}`
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
