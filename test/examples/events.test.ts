// apps/examples/events: run twice, it goes on where it was.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { perform } from './perform.ts'

test('each event is written down once, over two runs, in order', async () => {
  const folder = temporaryFolder()
  const follow = () => perform('events/follow.ts', ['7'], { EXAMPLE_FOLDER: folder })
  for (let run = 0; run < 2; run++) expect(await follow().ended).toMatchObject({ code: 0, stderr: '' })
  const lines = readFileSync(join(folder, 'happened.txt'), 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(Array.from({ length: 14 }, (_, index) => index + 1))
  expect(lines.filter((line) => line.endsWith('enqueued square'))).toHaveLength(4)
  expect(lines.filter((line) => line.includes(' worker.attached '))).toHaveLength(2)
})

test('what has ended is archived, whole, once in a run where nothing breaks', async () => {
  const folder = temporaryFolder()
  const archive = perform('events/archive.ts', [], { EXAMPLE_FOLDER: folder })
  expect(await archive.ended).toMatchObject({ code: 0, stderr: '' })
  const lines = readFileSync(join(folder, 'archive.ndjson'), 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).output)).toEqual([4, 9, 16])
})
