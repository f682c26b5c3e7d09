/** The tables of docs/protocol.md are what the code does. After a change: `vitest run --project unit packages/wire -u` writes them anew. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { OPERATIONS } from '@millrace/core'
import { expect, test } from 'vitest'
import { decodeMessage } from './codec.ts'
import { FrameReader } from './frames.ts'
import { namesSpokenOf, tables } from './testing/tables.ts'

const path = fileURLToPath(new URL('../../../docs/protocol.md', import.meta.url))
const text = readFileSync(path, 'utf8')
const BLOCK = /<!-- table: ([^>]+) -->\n[\s\S]*?<!-- end -->/g
const all = tables()

test('every table is the code’s', async () => {
  const anew = text.replace(BLOCK, (_, name: string) => `<!-- table: ${name} -->\n${all.get(name)}\n<!-- end -->`)
  await expect(anew).toMatchFileSnapshot(path)
})

test('every table is there, once', () => {
  expect([...text.matchAll(BLOCK)].map((match) => match[1]).toSorted()).toEqual([...all.keys()].toSorted())
})

test('every object that a table speaks of has its own', () => {
  const spoken = [...namesSpokenOf(all)].filter((name) => !WORDS.has(name))
  expect(spoken.filter((name) => !all.has(name))).toEqual([])
})

/** Described otherwise: by their kinds, and words that are no objects. */
const WORDS = new Set(['Request', 'Reply', 'Notice', 'Delivery', 'UTF', 'JSON'])

test('every time that a client says is one that a Date can hold, and that of an id one that an id can say', () => {
  const fields = [...all.values()].flatMap((block) =>
    [...block.matchAll(/`(\w+)`(?: \||) \[?([^|\]]+)/g)].map(([, name, says]) => [name, says?.trim()]),
  )
  const times = fields.filter(([name]) => /^(?:at|from|to|tick|\w+(?:At|After|Before))$/.test(name as string))
  expect(times.length).toBeGreaterThan(20)
  // Places in pages, a step and a wait are no times.
  expect(times.filter(([, says]) => !/^time\b/.test(says as string)).map(([name]) => name)).toEqual([
    'from',
    'from',
    'beforeAt',
    'nextAt',
    'alertAfter',
  ])
})

test('every operation is described', () => {
  for (const operation of Object.keys(OPERATIONS)) expect(text, operation).toMatch(new RegExp(`^(?:#+|-) .*\`${operation}\``, 'm'))
})

test('the bytes in the text are what they are said to be', () => {
  const examples = [...text.matchAll(/^ {4}(C|S): ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?: {2,}.*)?((?:\n {7}(?:[0-9a-f]{2} ?)+.*)*)$/gm)]
  expect(examples.length).toBeGreaterThan(3)
  for (const [, who, first, rest] of examples) {
    const hex = `${first} ${(rest as string).replace(/ {2,}[^0-9a-f ].*$/gm, '')}`.replace(/\s/g, '')
    const payloads = new FrameReader({ frameBytes: 2 ** 20 }).push(new Uint8Array(Buffer.from(hex, 'hex')))
    expect(payloads, hex).toHaveLength(1)
    expect(decodeMessage(payloads[0] as Uint8Array, who === 'C' ? 'client' : 'server')).toBeDefined()
  }
})
