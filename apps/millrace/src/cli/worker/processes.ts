/** Checks whether a process id of this machine still belongs to the process that was meant. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Returns when a process began, as the system reports it; undefined if there is no such process. A reused id has another beginning. */
export function beginningOf(pid: number): string | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

function fromProc(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    // The name in the second field may contain any characters, including blanks and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    // A zombie has ended, and waits for its parent to collect it.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${boot}:${fields[19]}`
  } catch {
    return undefined
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    return started === '' ? undefined : started
  } catch {
    return undefined
  }
}
