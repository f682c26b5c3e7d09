// apps/examples/search, as docs/search.md sends its readers there.
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

test('what is found, and what is not', async () => {
  const program = perform('search/main.ts')
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
  expect(program.lines).toEqual([
    'customer-17@: mail customer-17@example.org',
    'CUSTOMER-17 among the invoices, by its tag: invoice o-4711',
    'part of a key of the data and its value: invoice o-4712, invoice o-4711',
    'what is in meta alone: nothing',
    'a page of 3, and more, full',
  ])
})
