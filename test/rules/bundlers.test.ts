// Bundlers fail if they cannot find a package that is imported by its name, even if the program never imports it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT, SOURCES, type Source, targetOf } from './sources.ts'

/** The files that a bundler takes into the bundle of a program that imports this package, and what they import from others. */
function bundledFrom(folder: string): readonly { readonly path: string; readonly specifier: string }[] {
  const byPath = new Map(SOURCES.map((source) => [source.path, source]))
  const files = new Set([`packages/${folder}/src/index.ts`])
  const found: { path: string; specifier: string }[] = []
  for (const path of files) {
    const source = byPath.get(path) as Source
    for (const { specifier, typeOnly } of source.imports) {
      if (typeOnly) continue
      if (specifier.startsWith('.')) files.add(targetOf(source, specifier))
      else found.push({ path, specifier })
    }
  }
  return found
}

describe('a package that may be missing is imported by a name that no bundler sees', () => {
  const optional = readdirSync(join(ROOT, 'packages')).flatMap((folder) => {
    const { peerDependenciesMeta = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8'),
    ) as Readonly<Record<string, object>>
    return Object.keys({ ...peerDependenciesMeta, ...optionalDependencies }).map((name) => ({ folder, name }))
  })

  test('there are such packages', () => expect(optional).toContainEqual({ folder: 'engine', name: '@millrace/postgres' }))

  test.each(optional)('packages/$folder: $name', ({ folder, name }) => {
    const imports = bundledFrom(folder)
    expect(imports.length).toBeGreaterThan(0)
    expect(imports.filter(({ specifier }) => specifier === name || specifier.startsWith(`${name}/`))).toEqual([])
  })
})
