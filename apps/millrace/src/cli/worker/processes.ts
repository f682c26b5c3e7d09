/** Checks whether a process id of this machine still belongs to the process that was meant: with `/proc`, or else with `ps`. */
import { execFileSync } from 'node:child_process'
import { bootId, type FindProcess, hasEnded, statOf } from '@millrace/worker/process'

/** Returns when a process began; undefined if the system does not report it. */
export function beginningOf(pid: number): string | undefined {
  return find(pid)?.start
}

/**
 * True unless the process has certainly ended.
 *
 * @param beginning empty if it was not reported
 */
export function isRunning(pid: number, beginning: string): boolean {
  return !hasEnded({ pid, start: beginning }, find)
}

const find: FindProcess = (pid) => (process.platform === 'linux' ? fromProc(pid) : fromPs(pid))

const fromProc: FindProcess = (pid) => {
  const boot = bootId()
  const stat = statOf(pid)
  return boot === '' || stat === undefined ? undefined : { ended: stat.ended, start: `${boot}:${stat.start}` }
}

const fromPs: FindProcess = (pid) => {
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    return started === '' ? undefined : { ended: false, start: started }
  } catch {
    return undefined
  }
}
