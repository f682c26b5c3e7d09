/** A temporary folder to look through, and one to stand in. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Workplace {
  readonly folder: string
  /** Working directory: the queue file comes to lie below it. */
  readonly cwd: string
  write(name: string, content: string | Uint8Array): string
}

export function createWorkplace(): Workplace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'demo-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))
  const folder = join(root, 'tree')
  const cwd = join(root, 'cwd')
  mkdirSync(folder)
  mkdirSync(cwd)
  const write = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    return path
  }
  return { folder, cwd, write }
}
