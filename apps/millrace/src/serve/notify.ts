/** Reports the state of the daemon to systemd: docs/daemon.md. Node has no Unix datagram sockets, so `systemd-notify` sends it. */
import { execFile } from 'node:child_process'
import type { Logger } from '@millrace/core'
import type { Environment } from '../config/environment.ts'

export interface Notifier {
  /** Sends the states. Resolves when they are sent, or cannot be. */
  say(...states: readonly string[]): Promise<void>
  /** The interval at which systemd expects a sign of life, in milliseconds; undefined if it expects none. */
  readonly watchdogMs: number | undefined
}

export function notifier(env: Environment, logger: Logger): Notifier {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: usec, WATCHDOG_PID: pid, PATH } = env
  if (socket === undefined || socket === '') return { say: async () => {}, watchdogMs: undefined }
  let warned = false
  const say = (...states: readonly string[]) =>
    new Promise<void>((resolve) => {
      execFile('systemd-notify', states, { env: { NOTIFY_SOCKET: socket, PATH }, timeout: SAY_MS }, (error) => {
        if (error !== null && !warned) logger.warn('cannot notify systemd: is systemd-notify installed?', { error: error.message })
        warned ||= error !== null
        resolve()
      })
    })
  const ours = pid === undefined || pid === '' || Number(pid) === process.pid
  const watchdogMs = Number(usec) > 0 && ours ? Number(usec) / 1_000 : undefined
  return { say, watchdogMs }
}

const SAY_MS = 5_000
