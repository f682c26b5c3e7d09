// All packages have one version, and one changelog, which the notes of a release become.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sectionOf, withSection } from '../../deploy/changelog.ts'
import { ROOT } from './sources.ts'

const note = (bump: string, text: string) => `---\n'@millrace/core': ${bump}\nmillrace: patch\n---\n\n${text}\n`

test('notes are listed by what they mean for a user', () => {
  const notes = [note('patch', 'a fix\nin two lines'), note('minor', 'Breaking: x is gone. Use y.'), note('minor', 'a feature')]
  expect(sectionOf('0.2.0', notes)).toBe(
    '## 0.2.0\n\n### Breaking\n\n- Breaking: x is gone. Use y.\n\n### New\n\n- a feature\n\n### Fixed\n\n- a fix\n  in two lines\n',
  )
  expect(() => sectionOf('0.2.0', ['no head'])).toThrow('a changeset begins with packages')
})

test('the section of a release precedes the others', () => {
  const first = withSection('# Changes\n\nAbout.\n', sectionOf('0.1.0', [note('patch', 'a')]))
  expect(withSection(first, sectionOf('0.1.1', [note('patch', 'b')]))).toBe(
    '# Changes\n\nAbout.\n\n## 0.1.1\n\n### Fixed\n\n- b\n\n## 0.1.0\n\n### Fixed\n\n- a\n',
  )
})

test('there is one changelog, and it begins with the version that the packages have', () => {
  expect(globSync('{packages,apps}/*/CHANGELOG.md', { cwd: ROOT })).toEqual([])
  const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/engine/package.json'), 'utf8')) as { readonly version: string }
  expect(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').match(/^## (.*)$/m)?.[1]).toBe(version)
})
