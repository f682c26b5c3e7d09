/** The repository: on this machine, and on its host. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../../..')

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The address of the repository, without a slash at its end. */
export function repositoryAddress(): string {
  const { repository } = JSON.parse(readPage('package.json')) as { readonly repository: { readonly url: string } }
  return repository.url.replace(/^git\+|\.git$/g, '')
}
