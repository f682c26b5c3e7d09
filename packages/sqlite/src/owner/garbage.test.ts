import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../testing/files.ts'

test('a store that nobody refers to any more still owns its file', async () => {
  const script = new URL('../testing/forgotten-store.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--expose-gc', script, join(temporaryFolder(), 'jobs.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [answer] = await once(child.stdout, 'data')
  expect(String(answer)).toBe('ALREADY_OPEN')
})
