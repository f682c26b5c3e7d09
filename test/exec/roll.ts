/** Processes say to it that they are there, and are known to be dead when their connections break: no look at a clock is needed. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { CommandSpec } from '@millrace/exec'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { nodeCommand } from './bench.ts'

export interface Roll {
  /** The socket that they connect to. */
  readonly path: string
  /** Resolves when that process has come. */
  here(name: string): Promise<void>
  /** Resolves when it, which has come, is dead. */
  gone(name: string): Promise<void>
}

export async function startRoll(): Promise<Roll> {
  const path = join(temporaryFolder(), 's')
  const gone = new Map<string, Promise<void>>()
  const waiting: (() => void)[] = []
  const server = createServer((socket) => {
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket
      .on('error', () => {})
      .once('data', (name) => {
        gone.set(String(name), closed)
        for (const wake of waiting.splice(0)) wake()
      })
    onTestFinished(() => void socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
  return {
    path,
    async here(name) {
      while (!gone.has(name)) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    gone: (name) => gone.get(name) ?? Promise.reject(new Error(`${name} has not come`)),
  }
}

/** A process of Node that says its name to the roll whose path is its argument, and stays; one that is deaf ignores SIGTERM. */
export function staying(name: string, isDeaf = false): string {
  const deaf = isDeaf ? "process.on('SIGTERM', () => {});" : ''
  return `${deaf}require('net').connect(process.argv[1], function () { this.write('${name}') }).on('error', () => {});`
}

/** A command that starts a grandchild in its group, which holds its output open; both say so to the roll of the job's data. */
export function family(isDeaf: boolean): CommandSpec {
  const grandchild = JSON.stringify(staying('grandchild', isDeaf))
  return nodeCommand(
    `require('child_process').spawn(process.execPath, ['-e', ${grandchild}, '--', process.argv[1]], { stdio: 'inherit' });${staying('child', isDeaf)}`,
    { args: ['{{roll}}'] },
  )
}
