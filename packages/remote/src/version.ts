/** The name and version with which both ends introduce themselves. */
import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }

/** Names the version of this package, which all packages of Millrace share. */
export const LIBRARY = `millrace/${version}`

export { VERSIONS as PROTOCOL } from '@millrace/wire'
