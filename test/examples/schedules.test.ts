// apps/examples/schedules, twice with the same file.
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFile } from '../temporary.ts'

test('a schedule goes on where it was, and fires no tick twice', async () => {
  const file = temporaryFile()
  const ticks: string[] = []
  for (let start = 0; start < 2; start++) {
    const program = startProgram(new URL('../../apps/examples/schedules/report.ts', import.meta.url), [file])
    await program.said(/^the month is reported at \d{4}-\d\d-01T0[78]:0\d:\d\d\.\d{3}Z$/)
    await program.saidLines(3 + 2)
    program.child.kill('SIGINT')
    const { code, stderr } = await program.ended
    expect([code, stderr]).toEqual([0, ''])
    await program.said(/^\d+ reports of sales until now$/)
    ticks.push(...program.lines.filter((line) => line.startsWith('sales, as of ')))
  }
  expect(ticks).toEqual([...new Set(ticks)].sort())
})
