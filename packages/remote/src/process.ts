/**
 * What tells a process from every other one on its machine, later ones of its number included, and whether it is still there. Where
 * that cannot be known (another machine, another container, another system than Linux) nothing is said, and leases decide.
 */
import { readFileSync, readlinkSync } from 'node:fs'

/** `boot:namespace:pid:start`; empty where it cannot be known. */
export function processKey(): string {
  const start = startOf(process.pid)
  const here = namespace()
  return start === undefined || here === undefined ? '' : `${here}:${process.pid}:${start}`
}

/** Whether the process with that key is dead for certain. */
export function isDead(key: string): boolean {
  const [boot, space, pid, start] = key.split(':')
  if (start === undefined || `${boot}:${space}` !== namespace()) return false
  return startOf(Number(pid)) !== start
}

/** What the machine is called since it last started; empty where the system does not tell. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

/** Numbers of processes mean something within one boot and one namespace alone. */
function namespace(): string | undefined {
  const boot = bootId()
  try {
    return boot === '' ? undefined : `${boot}:${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return undefined
  }
}

/** When it began, in ticks since the boot; undefined for one that has ended. */
function startOf(pid: number): string | undefined {
  try {
    // The name in the second field may contain anything, also blanks and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
