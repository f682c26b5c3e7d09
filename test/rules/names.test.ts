// Each package exports the names of its list. So the review of a commit shows a public name that comes, goes or changes.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const FOLDERS = readdirSync(join(ROOT, 'packages'))

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>
}

/** The entries of a package that are code, by the path that people import. */
function entriesOf(folder: string): [path: string, file: string][] {
  const { name, exports = {} } = JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Manifest
  return Object.entries(exports).flatMap(([path, target]) => {
    const file = typeof target === 'string' ? target : target.default
    return /\.ts$/.test(file) ? [[join(name, path), join('packages', folder, file)] as [string, string]] : []
  })
}

const DECLARED =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(type|interface|class|function\*?|const|let|enum) ([A-Za-z_$][\w$]*)/gm

/** The names of a file, each once: types by an asterisk behind their names. `export *` is followed. */
function namesOf(file: string): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const names = new Set<string>()
  for (const [, kind = '', name = ''] of text.matchAll(DECLARED)) names.add(kind === 'type' || kind === 'interface' ? `${name}*` : name)
  for (const [, all, list = ''] of text.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
    for (const item of list.split(',').map((each) => each.trim())) {
      const [, typed, name] = /^(type )?(?:.* as )?(\w+)$/.exec(item) ?? []
      if (name !== undefined) names.add(all === undefined && typed === undefined ? name : `${name}*`)
    }
  }
  for (const [, types, from = ''] of text.matchAll(/^export (type )?\* from '([^']+)'/gm)) {
    for (const name of namesOf(resolved(file, from))) names.add(types === undefined || name.endsWith('*') ? name : `${name}*`)
  }
  return names
}

function resolved(file: string, from: string): string {
  if (from.startsWith('.')) return join(dirname(file), from)
  const entry = FOLDERS.flatMap(entriesOf).find(([path]) => path === from)
  if (entry === undefined) throw new Error(`${file} exports all of ${from}, which no package has`)
  return entry[1]
}

test.each(FOLDERS)('packages/%s exports the names of its list', async (folder) => {
  const entries = entriesOf(folder)
  expect(entries.length).toBeGreaterThan(0)
  const sections = entries.map(([path, file]) => {
    const names = [...namesOf(file)].toSorted()
    expect(names.length, `names of ${path}`).toBeGreaterThan(0)
    return `# ${path}\n${names.join('\n')}\n`
  })
  await expect(sections.join('\n')).toMatchFileSnapshot(join(ROOT, 'test/rules/names', `${folder}.txt`))
})
