/** The files of a journal, with a record of the steps done to them, and calls that fail or wait if a test asks for it. */
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'

export type Step = 'open' | 'write' | 'datasync' | 'truncate' | 'sync'

export interface TestFiles {
  readonly openFile: typeof open
  /** Each step that succeeded, with the name of its file or folder. */
  readonly trace: string[]
  /** Makes the next such step fail. */
  fail(step: Step, code?: string): void
  /** Makes such steps wait until the returned function is called; then they succeed. */
  hold(step: Step): () => void
}

export function testFiles(): TestFiles {
  const plan: { step: Step; code: string }[] = []
  const trace: string[] = []
  let held: { readonly step: Step; readonly until: Promise<void> } | undefined
  const take = async (step: Step) => {
    const index = plan.findIndex((fault) => fault.step === step)
    const [fault] = index < 0 ? [] : plan.splice(index, 1)
    if (fault !== undefined) throw Object.assign(new Error(`${fault.code}: ${step}`), { code: fault.code })
    if (held?.step === step) await held.until
  }
  const openFile = async (...args: Parameters<typeof open>): Promise<FileHandle> => {
    await take('open')
    const handle = await open(...args)
    const name = basename(String(args[0]))
    const note = (step: Step) => void trace.push(`${step} ${name}`)
    const { datasync, truncate, sync, appendFile } = handle
    const write: (...how: [Uint8Array, number, number, number]) => Promise<unknown> = handle.write.bind(handle)
    return Object.assign(handle, {
      // Half of the bytes are written before it fails.
      write: async (bytes: Uint8Array, offset: number, length: number, at: number) => {
        try {
          await take('write')
        } catch (error) {
          await write(bytes, offset, length >> 1, at)
          throw error
        }
        const written = await write(bytes, offset, length, at)
        note('write')
        return written
      },
      appendFile: async (text: string) => {
        await take('write')
        await appendFile.call(handle, text)
        note('write')
      },
      datasync: async () => {
        await take('datasync')
        await datasync.call(handle)
        note('datasync')
      },
      truncate: async (length: number) => {
        await take('truncate')
        await truncate.call(handle, length)
      },
      sync: async () => {
        await take('sync')
        await sync.call(handle)
        note('sync')
      },
    })
  }
  return {
    openFile: openFile as typeof open,
    trace,
    fail: (step, code = 'EIO') => void plan.push({ step, code }),
    hold(step) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = { step, until: promise }
      return () => {
        held = undefined
        resolve()
      }
    },
  }
}
