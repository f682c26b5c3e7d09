/**
 * Identifies a process among all others on its machine, even later ones with its number, and tests if it is still alive. If that
 * cannot be known (another machine, another container, a system other than Linux), nothing is said, and leases decide.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** Returns `boot:namespace:pid:start`; empty if it cannot be known. */
export function processKey(): string {
  const start = startOf(process.pid)
  const here = namespace()
  return start === undefined || here === undefined ? '' : `${here}:${process.pid}:${start}`
}

/** True if the process with that key is certainly dead. */
export function isDead(key: string): boolean {
  const [, , pid, start] = key.split(':')
  return isHere(key) && startOf(Number(pid)) !== start
}

/** True if the process with that key is, or was, where this process can see it. */
export function isHere(key: string): boolean {
  const [boot, space, , start] = key.split(':')
  return start !== undefined && `${boot}:${space}` === namespace()
}

/** Returns the id of the machine's current boot; empty if the system does not report it. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

/** Returns the boot and the pid namespace: numbers of processes have a meaning only within both. */
function namespace(): string | undefined {
  const boot = bootId()
  try {
    return boot === '' ? undefined : `${boot}:${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return undefined
  }
}

/** Returns the start of a process in ticks since the boot; undefined if it has ended. */
function startOf(pid: number): string | undefined {
  try {
    // The name in the second field may contain anything, including blanks and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
