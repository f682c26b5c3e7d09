// apps/examples/tracing, as docs/observability.md sends its readers there.
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'

test('a request, its enqueue, and both runs of the job are one trace', async () => {
  const program = startProgram(new URL('../../apps/examples/tracing/main.ts', import.meta.url), [])
  expect(await program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace warning: job 'resize' failed/) })
  expect(program.lines).toEqual([
    'a.png is small',
    'its meta: from, traceparent',
    'POST /pictures (internal)',
    '  enqueue resize (producer)',
    '    run resize (consumer), attempt 1: a.png is not there yet',
    '    run resize (consumer), attempt 2',
    '      shrink (internal)',
  ])
})
