// A server that is lost, and a replica in its place that lacks the last commits: a copy of the data folder, which is promoted.
import { execFile } from 'node:child_process'
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defineJob, type Engine, MillraceError, openEngine } from '@millrace/engine'
import { expect, onTestFinished } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { type Binaries, findBinaries } from './binaries.ts'
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

  static async of(name: string): Promise<Servers> {
    const binaries = findBinaries()
    if ('missing' in binaries) throw new Error(binaries.missing)
    const servers = new Servers(binaries)
    await servers.#run(
      servers.#program('initdb'),
      ...['--pgdata', servers.#data(name), '--username', 'postgres', '--auth', 'trust', '--no-sync', '--no-locale'],
    )
    return servers
  }

  get url(): string {
    return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(this.#folder)}`
  }

  async start(name: string): Promise<void> {
    await this.#control(name, 'start', '-o', `-c listen_addresses= -c unix_socket_directories=${this.#folder}`)
    onTestFinished(() => this.stop(name).catch(() => {}))
  }

  stop(name: string): Promise<void> {
    return this.#control(name, 'stop', '-m', 'immediate')
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

test('the engine waits until the replica is promoted, continues with what it has, and gives no id twice; it stops without a server', async ({
  skip,
}) => {
  if (process.platform === 'win32') return skip('servers of this test listen on Unix sockets')
  const servers = await Servers.of('primary')
  await servers.start('primary')
  const engine = await openEngine({ postgres: servers.url, logger: false })
  const kept = await engine.enqueue('a', 'kept')

  await servers.stop('primary')
  await servers.copy('primary', 'replica')
  await servers.start('primary')
  const lost = await untilDone(() => engine.enqueue('a', 'lost'))
  const before = await ownerOf(engine)

  await servers.stop('primary')
  await servers.start('replica')
  const created = untilDone(() => engine.enqueue('a', 'new'))
  await servers.promote('replica')
  const { id } = await created
  expect(await ownerOf(engine)).toBeGreaterThan(before + 2 ** 19)
  expect(await engine.get(lost.id)).toBeUndefined()
  engine.work([defineJob<string>({ name: 'a' }).handler(({ data }) => `${data} has run`)])
  const ended = () => untilDone(async () => (await engine.list({ state: 'completed' })).jobs.map((job) => [job.id, job.output]))
  await expect.poll(ended, { timeout: 30_000 }).toEqual([
    [id, 'new has run'],
    [kept.id, 'kept has run'],
  ])

  // No server will be there again.
  await servers.stop('replica')
  await engine.stop()
})
