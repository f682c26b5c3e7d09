// docs/tutorial.md: each block as it stands, in one bash, and what it prints as the page has it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePorts } from '../freePorts.ts'
import { temporaryFolder } from '../temporary.ts'
import { normal } from './normal.ts'
import { environmentOf, ROOT, runBlocks } from './shell.ts'

/** By when a newcomer has to be through with it. */
const LIMIT_MS = 5 * 60_000
const PAGE = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8')

interface Step {
  readonly script: string
  /** Empty if the page shows nothing. */
  readonly prints: string
}

function stepsOf(page: string): readonly Step[] {
  const blocks = [...page.matchAll(/^```(sh)?\n(.*?)^```$/gms)].map(([, kind, text]) => ({ kind, text: text as string }))
  return blocks.flatMap(({ kind, text: script }, index) => {
    const next = blocks[index + 1]
    return kind === 'sh' ? [{ script, prints: next !== undefined && next.kind === undefined ? next.text : '' }] : []
  })
}

test('the steps of the tutorial, each as written, in less than five minutes', { timeout: LIMIT_MS + 30_000 }, async () => {
  const steps = stepsOf(PAGE)
  expect(steps).toHaveLength(8)
  const folder = temporaryFolder()
  const [http, receiver] = await freePorts(2)
  const env = environmentOf(folder, { MILLRACE_HTTP_PORT: String(http), RECEIVER_PORT: String(receiver) })
  const blocks = steps.map(({ script }) => script)
  const { code, errors, printed, tookMs } = await runBlocks(blocks, { folder, env, cwd: ROOT, limitMs: LIMIT_MS })
  expect({ code, errors, blocks: printed.length - 1, last: printed.at(-1) }).toEqual({
    code: 0,
    errors: '',
    blocks: steps.length,
    last: '',
  })
  for (const [index, { prints }] of steps.entries()) expect(normal(printed[index] as string)).toBe(normal(prints))
  expect(tookMs).toBeLessThan(LIMIT_MS)
})
