/** Loads the clients of other stores, which are not dependencies: from the folder of the application, or from beside this package. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MissingPackageError } from './errors.ts'

/** @throws MissingPackageError */
export async function loadClient<T>(name: string, source: string): Promise<T> {
  for (const from of [join(process.cwd(), 'import.js'), import.meta.url]) {
    let path: string
    try {
      path = createRequire(from).resolve(name)
    } catch {
      continue
    }
    return (await import(pathToFileURL(path).href)) as T
  }
  throw new MissingPackageError(name, source)
}
