/** The peers' packages: dependencies of this workspace, or installed by hand in another folder (`--packages FOLDER`). */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const HERE = import.meta.url

/** The package's folder and version; undefined where it is not installed. */
export function findPackage(name: string, packages: string): { readonly folder: string; readonly version: string } | undefined {
  for (const from of placesOf(packages)) {
    for (const modules of createRequire(from).resolve.paths(name) ?? []) {
      const folder = join(modules, name)
      try {
        const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string }
        return { folder, version: manifest.version }
      } catch {
        // Not there; perhaps in the next.
      }
    }
  }
  return undefined
}

/** Imports a package from wherever it is. */
export async function loadPackage<T>(name: string, packages: string): Promise<T> {
  const found = findPackage(name, packages)
  if (found === undefined) throw new Error(`the package ${name} is not installed`)
  const modules = dirname(name.startsWith('@') ? dirname(found.folder) : found.folder)
  const path = createRequire(join(modules, '..', 'from.js')).resolve(name)
  return (await import(pathToFileURL(path).href)) as T
}

function placesOf(packages: string): string[] {
  return packages === '' ? [HERE] : [pathToFileURL(join(resolve(packages), 'from.js')).href, HERE]
}
