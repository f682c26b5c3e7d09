import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderOf, TEMPLATES } from './templates.ts'

const json = (path: string | URL) => JSON.parse(readFileSync(path, 'utf8'))
const ROOT = new URL('../../../', import.meta.url)

test('the table has a row for each folder', () => {
  const folders = readdirSync(new URL('../templates/', import.meta.url))
  expect(TEMPLATES.map(({ name }) => name).toSorted()).toEqual(folders.toSorted())
})

describe.each(TEMPLATES)('$name', (template) => {
  const folder = folderOf(template)
  const manifest = json(join(folder, 'package.json'))
  const dependencies: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies }

  test('takes Millrace in the version of this package, and other packages in the versions of the workspace', () => {
    const { devDependencies: workspace } = json(new URL('package.json', ROOT))
    for (const [name, range] of Object.entries(dependencies))
      expect(`${name} ${range}`).toBe(`${name} ${/^(?:@millrace\/|millrace$)/.test(name) ? 'workspace:^' : workspace[name]}`)
    expect(manifest.engines).toEqual(json(new URL('apps/examples/package.json', ROOT)).engines)
  })

  test('its settings of TypeScript and its ignored files are those of all templates', () => {
    const [first] = TEMPLATES
    for (const file of ['tsconfig.json', 'gitignore'])
      expect(readFileSync(join(folder, file), 'utf8')).toBe(readFileSync(join(folderOf(first as (typeof TEMPLATES)[number]), file), 'utf8'))
  })

  test('the scripts to try first are there, and in the README, as are the files', () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    for (const script of ['test', ...template.first.map(([name]) => name)]) {
      expect(manifest.scripts).toHaveProperty(script)
      expect(readme).toMatch(new RegExp(`^npm (?:run )?${script} +#`, 'm'))
    }
    const files = readdirSync(join(folder, 'src')).map((name) => `src/${name}`)
    const listed = [...readme.matchAll(/^\| `(src\/[^`]+)` \|/gm)].map(([, name]) => name)
    expect(listed.toSorted()).toEqual(files.toSorted())
  })
})
