/** The calls that the engine permanently refused: a line of JSON each, for people. */
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Source } from '@millrace/client'
import { decodeData, formatId, type NewJob, parseId, type Refusal, type SourceEntry, sourcedNode } from '@millrace/core'
import { syncFolder } from './log.ts'

export const REFUSED_FILE = 'refused.ndjson'

export class Refusals {
  readonly #folder: string
  readonly #openFile: typeof open
  /** The ids of first jobs of entries that are in the file, and may still be in the journal. */
  readonly #noted: Set<string>

  private constructor(folder: string, openFile: typeof open, noted: Set<string>) {
    this.#folder = folder
    this.#openFile = openFile
    this.#noted = noted
  }

  /** `numbers` are those of the sources that are in the journal: ids of other sources are not kept in memory. */
  static async open(folder: string, numbers: ReadonlySet<number>, openFile = open): Promise<Refusals> {
    const noted = new Set<string>()
    const refusals = new Refusals(folder, openFile, noted)
    if (numbers.size === 0) return refusals
    const handle = await openFile(join(folder, REFUSED_FILE), 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    for await (const line of handle?.readLines() ?? []) {
      const id = idIn(line)
      if (id !== undefined && numbers.has(parseId(id)?.node ?? 0)) noted.add(id)
    }
    return refusals
  }

  has(source: Source, place: number, entry: SourceEntry): boolean {
    return this.#noted.size > 0 && this.#noted.has(idOf(source, place, entry))
  }

  /** Forgets an entry that the journal no longer has. */
  forget(source: Source, place: number, entry: SourceEntry): void {
    if (this.#noted.size > 0) this.#noted.delete(idOf(source, place, entry))
  }

  /** Resolves when the refusal is synced: from then on the journal need not keep the entry. */
  async note(source: Source, place: number, entry: SourceEntry, { code, message }: Refusal): Promise<void> {
    const { at, jobs } = entry
    const line = {
      id: idOf(source, place, entry),
      at: new Date(at).toISOString(),
      error: { code, message },
      jobs: jobs.map(readable),
    }
    // Opened each time: people may move the file away at any moment.
    const handle = await this.#openFile(join(this.#folder, REFUSED_FILE), 'a+', 0o600)
    try {
      // A line that was begun and never ended stays as it is.
      await handle.appendFile(`${(await endsLine(handle)) ? '' : '\n'}${JSON.stringify(line)}\n`)
      await handle.datasync()
    } finally {
      await handle.close()
    }
    await syncFolder(this.#folder, this.#openFile)
    this.#noted.add(line.id)
  }
}

async function endsLine(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  if (size === 0) return true
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] === 0x0a
}

function idOf({ number }: Source, place: number, { at }: SourceEntry): string {
  return formatId({ seq: 0, node: sourcedNode(place, number), enqueuedAt: at })
}

/** Returns undefined if the line is not whole, or not ours. */
function idIn(line: string): string | undefined {
  try {
    return JSON.parse(line).id
  } catch {
    return undefined
  }
}

/** Returns a job for people to read: bytes become base64, which `encoding` says. */
function readable({ data, ...rest }: NewJob): object {
  if (data instanceof Uint8Array) return { ...rest, data: Buffer.from(data).toString('base64'), encoding: 'base64' }
  return { ...rest, data: decodeData(data) }
}
