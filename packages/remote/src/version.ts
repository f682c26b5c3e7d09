/** How both ends introduce themselves. */
export const LIBRARY = 'millrace/0.0.0'

export { VERSIONS as PROTOCOL } from '@millrace/wire'
