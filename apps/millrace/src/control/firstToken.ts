/** Creates a token at the first run of a daemon, so that nothing is ever served without one. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Control } from './control.ts'

/** Returns the path of the file where the command line of the same user finds the token. */
export function tokenFileOf(file: string): string {
  return `${file}-token`
}

/**
 * Creates the token 'admin' if there never was a token, and returns it this once. It is written to its file first: if the daemon dies
 * in between, the next start creates another token.
 */
export function firstToken(control: Control, file: string): string | undefined {
  if (control.hasTokens) return undefined
  const token = control.newToken()
  if (file !== ':memory:') writeAlone(tokenFileOf(file), `${token}\n`)
  control.createToken({ name: 'admin' }, token)
  return token
}

/** Writes a file that only its owner can read, from its first byte on. The file is complete or does not exist. */
function writeAlone(path: string, text: string): void {
  const made = `${path}.new`
  rmSync(made, { force: true })
  writeFileSync(made, text, { mode: 0o600, flag: 'wx', flush: true })
  renameSync(made, path)
}
