/**
 * Paths as text. On most systems a file name is any bytes, and a job's data is JSON: a path that is no UTF-8 travels as NUL, which no
 * path contains, and then its bytes as Latin-1.
 */
import { isUtf8 } from 'node:buffer'
import { sep } from 'node:path'

const RAW = '\0'

/** A name, or a whole path, as text that `toSystem` takes back without loss. */
export function fromSystem(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : RAW + bytes.toString('latin1')
}

/** Returns the path as the file system functions take it. */
export function toSystem(text: string): string | Buffer {
  return text.startsWith(RAW) ? Buffer.from(text.slice(1), 'latin1') : text
}

export function childOf(folder: string, name: string): string {
  const between = folder.endsWith(sep) ? '' : sep
  if (!folder.startsWith(RAW) && !name.startsWith(RAW)) return folder + between + name
  return fromSystem(Buffer.concat([Buffer.from(toSystem(folder)), Buffer.from(between), Buffer.from(toSystem(name))]))
}

/** For people: relative to the root where one is given, and without characters that would move the terminal's cursor. */
export function forPeople(path: string, root?: string): string {
  const text = toSystem(path).toString()
  const start = root === undefined || root.endsWith(sep) ? root : root + sep
  const shown = start !== undefined && text.startsWith(start) ? text.slice(start.length) : text
  return shown.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
