// Real I/O errors: the system lets the files grow no further (RLIMIT_FSIZE), which SQLite tells as SQLITE_IOERR_WRITE.
import { formatId } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { auditFile } from '../../packages/sqlite/src/testing/inspect.ts'
import { startProgram } from '../program.ts'
import { temporaryFile } from '../temporary.ts'

test('1, 5, ioerr-never-degrades-silently: every enqueue is acknowledged and there, or refused with a typed error', async () => {
  const file = temporaryFile()
  const program = startProgram(
    new URL('./programs/limitedFile.ts', import.meta.url),
    [file],
    ['sh', '-c', 'ulimit -f 6000; exec "$0" "$@"'],
  )
  const { code, stderr } = await program.ended
  // Nothing but the end of the engine, where it cannot even read its file again.
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^(millrace error: the engine has ended .*ENGINE_FAILED.*\n)?$/),
  })
  const acknowledged = program.lines.filter((line) => line.startsWith('ok ')).map((line) => line.slice(3))
  const refusals = program.lines.filter((line) => !line.startsWith('ok '))
  expect(acknowledged.length).toBeGreaterThan(20)
  expect([...new Set(refusals)].filter((refusal) => !['COMMIT_UNKNOWN', 'STORAGE', 'ENGINE_FAILED'].includes(refusal))).toEqual([])

  await (await openEngine({ file })).stop()
  const { problems, jobs } = auditFile(file)
  expect(problems).toEqual([])
  const there = new Set(jobs.map(formatId))
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([])
  // What was of unknown outcome may be there; what was refused is not.
  const unknown = refusals.filter((refusal) => refusal === 'COMMIT_UNKNOWN').length
  expect(jobs.length).toBeLessThanOrEqual(acknowledged.length + unknown)
})
