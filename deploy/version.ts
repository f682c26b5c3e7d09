/**
 * Prepares a release: `pnpm run version`. The notes of `.changeset` become a section of CHANGELOG.md, all packages get the next version, and so
 * does the tag of the image in the manifests.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { sectionOf, withSection } from './changelog.ts'

const ROOT = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path.replaceAll('\\', '/'), ROOT), 'utf8')
const write = (path: string, text: string) => writeFileSync(new URL(path.replaceAll('\\', '/'), ROOT), text)

const notes = globSync('.changeset/*.md', { cwd: ROOT, exclude: ['.changeset/README.md'] })
  .toSorted()
  .map(read)
if (notes.length === 0) throw new Error('there is nothing to release: .changeset has no note')
execFileSync('changeset', ['version'], { stdio: 'inherit' })
const { version } = JSON.parse(read('apps/millrace/package.json')) as { readonly version: string }

write('CHANGELOG.md', withSection(read('CHANGELOG.md'), sectionOf(version, notes)))
for (const path of globSync('deploy/kubernetes/*/kustomization.yaml', { cwd: ROOT }))
  write(path, read(path).replace(/(- name: millrace\n.*\n {4}newTag: ).*/, `$1${version}`))
