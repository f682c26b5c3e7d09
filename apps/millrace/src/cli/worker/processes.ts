/** Checks whether a process id of this machine still belongs to the process that was meant. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

interface Found {
  /** True for a zombie, too: it waits for its parent to collect it. */
  readonly ended: boolean
  /** As the system reports it. A reused id has another beginning. */
  readonly beginning: string
}

/** Returns when a process began; undefined if the system does not report it. */
export function beginningOf(pid: number): string | undefined {
  return find(pid)?.beginning
}

/**
 * True unless the process has certainly ended. A process that `/proc` hides (`hidepid`, `ProtectProc`) may be alive: then its number decides.
 *
 * @param beginning empty if it was not reported
 * @param look finds what the system shows of it
 */
export function isRunning(pid: number, beginning: string, look = find): boolean {
  const found = look(pid)
  if (found === undefined || beginning === '') return !isGone(pid)
  return !found.ended && found.beginning === beginning
}

/** True if no process has this number. One of another user, which must not be signalled, has it. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function find(pid: number): Found | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

function fromProc(pid: number): Found | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    // The name in the second field may contain any characters, including blanks and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { ended: fields[0] === 'Z' || fields[0] === 'X', beginning: `${boot}:${fields[19]}` }
  } catch {
    return undefined
  }
}

function fromPs(pid: number): Found | undefined {
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    return started === '' ? undefined : { ended: false, beginning: started }
  } catch {
    return undefined
  }
}
