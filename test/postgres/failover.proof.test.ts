// A server that is lost, and a replica in its place that lacks the last commits: a copy of the data folder, or a streaming replica.
import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defineJob, type Engine, MillraceError, openEngine } from '@millrace/engine'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { DEBIAN } from './debian.ts'
import { NOBODY } from './nobody.ts'
import { test } from './test.ts'

/** Servers with data folders of their own, of which one at a time listens on a socket. */
class Servers {
  readonly #binaries: Binaries
  readonly #folder: string

  private constructor(binaries: Binaries) {
    this.#binaries = binaries
    this.#folder = temporaryFolder()
    this.#own(this.#folder)
  }

  static async of(name: string, binaries: Binaries): Promise<Servers> {
    const servers = new Servers(binaries)
    await servers.#run(
      servers.#program('initdb'),
      ...['--pgdata', servers.#data(name), '--username', 'postgres', '--auth', 'trust', '--no-sync', '--no-locale'],
    )
    return servers
  }

  /** @param at the place of a server that is not the one in use */
  url(at = '.'): string {
    return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(join(this.#folder, at))}`
  }

  async start(name: string, at = '.'): Promise<void> {
    const sockets = join(this.#folder, at)
    mkdirSync(sockets, { recursive: true })
    this.#own(sockets)
    await this.#control(name, 'start', '-o', `-c listen_addresses= -c unix_socket_directories=${sockets}`)
    onTestFinished(() => this.stop(name).catch(() => {}))
  }

  stop(name: string, mode: 'immediate' | 'fast' = 'immediate'): Promise<void> {
    return this.#control(name, 'stop', '-m', mode)
  }

  /** Makes a replica that streams from the server in use. */
  async replicate(to: string): Promise<void> {
    await this.#run(
      this.#program('pg_basebackup'),
      ...['--pgdata', this.#data(to), '--host', this.#folder, '--username', 'postgres', '--write-recovery-conf', '--checkpoint', 'fast'],
    )
  }

  async query(at: string, sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(at) })
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** Copies the data of a server that is stopped: from then on the copy is a replica that has fallen behind. */
  async copy(from: string, to: string): Promise<void> {
    await this.#run('cp', '-Rp', this.#data(from), this.#data(to))
    const signal = join(this.#data(to), 'standby.signal')
    writeFileSync(signal, '')
    this.#own(signal)
  }

  promote(name: string): Promise<void> {
    return this.#control(name, 'promote')
  }

  #data(name: string): string {
    return join(this.#folder, name)
  }

  #control(name: string, ...args: readonly string[]): Promise<void> {
    return this.#run(this.#program('pg_ctl'), '-w', '-D', this.#data(name), '-l', join(this.#folder, `${name}.log`), ...args)
  }

  #program(name: string): string {
    return join(this.#binaries.folder, 'bin', name)
  }

  async #run(program: string, ...args: readonly string[]): Promise<void> {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' }
    await promisify(execFile)(program, args, { cwd: this.#folder, env, ...NOBODY })
  }

  #own(path: string): void {
    if (NOBODY !== undefined) chownSync(path, NOBODY.uid, NOBODY.gid)
  }
}

/** Repeats a call while it is refused as retryable, as callers should. */
async function untilDone<Value>(call: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof MillraceError && error.retryable)) throw error
    }
  }
}

async function ownerOf(engine: Engine): Promise<number> {
  const { owner } = await untilDone(() => engine.stats())
  return owner?.epoch ?? 0
}

/** Goes on with a promoted replica, which has `kept` and lacks `lost`. The primary is stopped. */
async function goesOn(servers: Servers, engine: Engine, before: number, kept: readonly string[], lost: string): Promise<void> {
  await servers.start('replica')
  const created = untilDone(() => engine.enqueue('a', 'new'))
  await servers.promote('replica')
  const { id } = await created
  expect(await ownerOf(engine)).toBeGreaterThan(before + 2 ** 19)
  expect(await engine.get(lost)).toBeUndefined()
  engine.work([defineJob<string>({ name: 'a' }).handler(({ data }) => `${data} has run`)])
  const ended = () => untilDone(async () => (await engine.list({ state: 'completed' })).jobs.map((job) => [job.id, job.output]))
  await expect.poll(ended, { timeout: 30_000 }).toEqual([[id, 'new has run'], ...kept.map((each) => [each, 'kept has run'])])

  // No server will be there again.
  await servers.stop('replica')
  await engine.stop()
}

test('the engine waits until the replica is promoted, continues with what it has, and gives no id twice; it stops without a server', async ({
  skip,
}) => {
  if (process.platform === 'win32') return skip('servers of this test listen on Unix sockets')
  const binaries = findBinaries()
  if ('missing' in binaries) return skip(`no Postgres: ${binaries.missing}`)
  const servers = await Servers.of('primary', binaries)
  await servers.start('primary')
  const engine = await openEngine({ postgres: servers.url(), logger: false })
  const kept = await engine.enqueue('a', 'kept')

  await servers.stop('primary')
  await servers.copy('primary', 'replica')
  await servers.start('primary')
  const lost = await untilDone(() => engine.enqueue('a', 'lost'))
  const before = await ownerOf(engine)
  await servers.stop('primary')
  await goesOn(servers, engine, before, [kept.id], lost.id)
})

test('the same with a replica that streams, until it is cut off from the primary', async ({ skip }) => {
  if (!existsSync(DEBIAN)) return skip(`there is no ${DEBIAN}: the package postgresql-15 of Debian has pg_basebackup`)
  const servers = await Servers.of('primary', { folder: DEBIAN })
  await servers.start('primary')
  const engine = await openEngine({ postgres: servers.url(), logger: false })
  const first = await engine.enqueue('a', 'kept')
  await servers.replicate('replica')
  await servers.start('replica', 'aside')
  const second = await engine.enqueue('a', 'kept')

  const [now] = await servers.query('.', 'SELECT pg_current_wal_lsn() AS lsn')
  const isThere = `SELECT pg_last_wal_replay_lsn() >= '${now?.['lsn']}' AS "isThere"`
  await expect.poll(() => servers.query('aside', isThere)).toEqual([{ isThere: true }])
  await servers.query('aside', "ALTER SYSTEM SET primary_conninfo = ''")
  await servers.query('aside', 'SELECT pg_reload_conf()')
  await expect.poll(() => servers.query('aside', 'SELECT pid FROM pg_stat_wal_receiver')).toEqual([])
  const lost = await engine.enqueue('a', 'lost')
  const before = await ownerOf(engine)
  await servers.stop('primary')
  await servers.stop('replica', 'fast')
  await goesOn(servers, engine, before, [second.id, first.id], lost.id)
})
