/** The version of this package, which all packages of Millrace share. */
import { readFileSync } from 'node:fs'

/** The build replaces it by the version: an application that is bundled has no manifest of Millrace beside it. */
declare const MILLRACE_VERSION: string | undefined

export const VERSION: string = typeof MILLRACE_VERSION === 'string' ? MILLRACE_VERSION : versionInSources()

function versionInSources(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
