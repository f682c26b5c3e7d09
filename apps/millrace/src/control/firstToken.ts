/** The first run of a daemon makes a token, so that nothing is ever served without one. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Control } from './control.ts'

/** Where the command line of the same user finds it. */
export function tokenFileOf(file: string): string {
  return `${file}-token`
}

/**
 * Makes the token 'admin' where there never was any; answers it, this once. It is written to its file first: a daemon that dies in between
 * makes another one.
 */
export function firstToken(control: Control, file: string): string | undefined {
  if (control.hasTokens) return undefined
  const token = control.newToken()
  if (file !== ':memory:') writeAlone(tokenFileOf(file), `${token}\n`)
  control.createToken({ name: 'admin' }, token)
  return token
}

/** A file that is its owner's alone from its first byte on, whole or not there. */
function writeAlone(path: string, text: string): void {
  const made = `${path}.new`
  rmSync(made, { force: true })
  writeFileSync(made, text, { mode: 0o600, flag: 'wx', flush: true })
  renameSync(made, path)
}
