// The bugs that `pnpm sim --canaries` plants are texts of the sources: whoever changes such a line has to change its canary with it.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CANARIES } from '../proof/simulation/canaries/all.ts'
import { planted } from '../proof/simulation/canaries/canary.ts'

test.each(CANARIES)('the planted bug $name has its one place in the source', (canary) => {
  expect(planted(canary).source).toContain(canary.replace)
})

test('docs/reliability.md says how many bugs are planted', () => {
  const page = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8')
  expect(page).toContain(`plants ${CANARIES.length} known bugs`)
})
