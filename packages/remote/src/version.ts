/** The name and version with which both ends introduce themselves. */
import { VERSION } from '@millrace/worker'

/** Names the version of this package, which all packages of Millrace share. */
export const LIBRARY = `millrace/${VERSION}`

export { VERSIONS as PROTOCOL } from '@millrace/wire'
