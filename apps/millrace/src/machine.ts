/** Tells this machine and its files from others. */
import { statSync } from 'node:fs'

/** Returns the device and the inode number of a file, or undefined if there is none. No other file of the machine has both. */
export function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}

/** True if only this machine can reach the host. @param host as `URL.hostname` writes it */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
