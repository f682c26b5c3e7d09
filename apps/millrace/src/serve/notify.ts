/** Tells systemd how the daemon is: docs/daemon.md. Node has no datagram sockets of Unix, so `systemd-notify` says it. */
import { execFile } from 'node:child_process'
import type { Logger } from '@millrace/core'
import type { Environment } from '../config/environment.ts'

export interface Notifier {
  /** Resolves when it is said, or cannot be. */
  say(...states: readonly string[]): Promise<void>
  /** How often systemd wants to hear that all is well; undefined where it does not. */
  readonly watchdogMs: number | undefined
}

export function notifier(env: Environment, logger: Logger): Notifier {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: usec, WATCHDOG_PID: pid, PATH } = env
  if (socket === undefined || socket === '') return { say: async () => {}, watchdogMs: undefined }
  let told = false
  const say = (...states: readonly string[]) =>
    new Promise<void>((resolve) => {
      execFile('systemd-notify', states, { env: { NOTIFY_SOCKET: socket, PATH }, timeout: SAY_MS }, (error) => {
        if (error !== null && !told) logger.warn('cannot notify systemd: is systemd-notify installed?', { error: error.message })
        told ||= error !== null
        resolve()
      })
    })
  const ours = pid === undefined || pid === '' || Number(pid) === process.pid
  const watchdogMs = Number(usec) > 0 && ours ? Number(usec) / 1_000 : undefined
  return { say, watchdogMs }
}

const SAY_MS = 5_000
