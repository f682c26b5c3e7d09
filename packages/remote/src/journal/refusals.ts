/** What the engine refused, for good: a line of JSON each, for people. */
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeData, formatId, type NewJob, type Refusal, type SourceEntry, sourcedNode } from '@millrace/core'
import type { Source } from './segment.ts'

export const REFUSED_FILE = 'refused.ndjson'

export class Refusals {
  readonly #handle: FileHandle
  /** Ids of first jobs that are in the file, of entries that may still be in the journal. */
  readonly #noted: Set<string>

  private constructor(handle: FileHandle, noted: Set<string>) {
    this.#handle = handle
    this.#noted = noted
  }

  static async open(folder: string): Promise<Refusals> {
    const path = join(folder, REFUSED_FILE)
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    const handle = await open(path, 'a', 0o600)
    // A line that a killed process has begun stays as it is.
    if (text !== '' && !text.endsWith('\n')) await handle.appendFile('\n')
    return new Refusals(handle, new Set(text.split('\n').flatMap(idIn)))
  }

  has(source: Source, place: number, entry: SourceEntry): boolean {
    return this.#noted.has(idOf(source, place, entry))
  }

  /** Resolves when it is synced: from then on the journal need not have it. */
  async note(source: Source, place: number, entry: SourceEntry, { code, message }: Refusal): Promise<void> {
    const { at, jobs } = entry
    const line = {
      id: idOf(source, place, entry),
      at: new Date(at).toISOString(),
      error: { code, message },
      jobs: jobs.map(readable),
    }
    await this.#handle.appendFile(`${JSON.stringify(line)}\n`)
    await this.#handle.datasync()
    this.#noted.add(line.id)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

function idOf({ number }: Source, place: number, { at }: SourceEntry): string {
  return formatId({ seq: 0, node: sourcedNode(place, number), enqueuedAt: at })
}

function idIn(line: string): string[] {
  try {
    return [JSON.parse(line).id]
  } catch {
    return []
  }
}

/** Bytes as base64, which `encoding` says. */
function readable({ data, ...rest }: NewJob): object {
  if (data instanceof Uint8Array) return { ...rest, data: Buffer.from(data).toString('base64'), encoding: 'base64' }
  return { ...rest, data: decodeData(data) }
}
