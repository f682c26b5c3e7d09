// Every option and argument that is the path of a file or a folder takes a `file:` URL too, and refuses another URL by its name.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OptionTypeError } from '@millrace/core'
import { moveStore, openEngine } from '@millrace/engine'
import { execHandlers } from '@millrace/exec'
import { connect } from '@millrace/remote'
import { createTestEngine } from '@millrace/testkit'
import { describe, expect, test } from 'vitest'
import { temporaryFile } from '../temporary.ts'

interface Door {
  readonly option: string
  /** Uses the path, which exists if `made` is set. */
  readonly use: (path: string | URL) => unknown
  readonly made?: (path: string) => void
}

const program = process.execPath
const exec = (spec: object, options = {}) => execHandlers({ command: { file: program, ...spec } } as never, options)

const DOORS: Readonly<Record<string, Door>> = {
  openEngine: { option: 'file', use: async (file) => (await openEngine({ file })).stop() },
  createTestEngine: { option: 'file', use: (file) => createTestEngine({ file: file as string }).engine.stop() },
  backup: {
    option: 'file',
    use: async (file) => {
      const { engine } = createTestEngine({ file: temporaryFile() })
      try {
        await engine.backup(file)
      } finally {
        await engine.stop()
      }
    },
  },
  'moveStore from': { option: 'from.file', made: makeStore, use: (file) => moveStore({ from: { file }, to: { file: temporaryFile() } }) },
  'moveStore to': {
    option: 'to.file',
    use: async (file) => {
      const from = temporaryFile()
      await makeStore(from)
      await moveStore({ from: { file: from }, to: { file } })
    },
  },
  'connect journal': { option: 'journal', use: (folder) => journal(folder) },
  'connect journal.folder': { option: 'journal.folder', use: (folder) => journal({ folder }) },
  'execHandlers logFolder': { option: 'logFolder', use: (logFolder) => exec({}, { logFolder }) },
  'execHandlers cwd': { option: "commands['command'].cwd", made: (path) => mkdirSync(path), use: (cwd) => exec({ cwd }) },
}

async function makeStore(file: string): Promise<void> {
  await (await openEngine({ file })).stop()
}

async function journal(given: unknown): Promise<void> {
  await (await connect(`unix:${join(dirname(temporaryFile()), 'none.sock')}`, { journal: given as string, logger: false })).stop()
}

describe.each(Object.entries(DOORS))('%s', (_name, { option, use, made }) => {
  test('takes a file: URL', async () => {
    const path = join(dirname(temporaryFile()), 'a b.db')
    await made?.(path)
    await use(pathToFileURL(path))
    expect(existsSync(path)).toBe(true)
  })

  test('refuses another URL, by its name', async () => {
    const refused = async () => use(new URL('https://example.com/jobs.db'))
    await expect(refused()).rejects.toThrow(OptionTypeError)
    await expect(refused()).rejects.toThrow(`${option} must be a path, or a file: URL of this machine, got "https://example.com/jobs.db"`)
  })
})

test('a program by its URL', () => {
  expect(exec({ file: pathToFileURL(program) })).toHaveLength(1)
})
