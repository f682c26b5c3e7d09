/** The plain text beside a file that says who owns it: for people and error messages. The lock alone decides. */
import { closeSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createFile, type Making } from '../access.ts'
import { noteFile } from '../companionFiles.ts'

export interface OwnerNote {
  readonly pid: number
  readonly host: string
  /** The number of engines that have owned the file, this one included; 0 while it is still opening. */
  readonly epoch: number
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/** Writes the note as a whole or not at all: a reader never finds half of it. */
export function writeOwnerNote(file: string, note: OwnerNote, making: Making): void {
  const target = noteFile(file)
  const partial = `${target}.${note.pid}.partial`
  // A killed process may have left this file, or somebody may have put a link there.
  rmSync(partial, { force: true })
  const descriptor = createFile(partial, making)
  try {
    writeFileSync(descriptor, `${JSON.stringify(note)}\n`)
  } finally {
    closeSync(descriptor)
  }
  renameSync(partial, target)
}

/** Returns undefined if there is no note, or none that can be understood. */
export function readOwnerNote(file: string): OwnerNote | undefined {
  try {
    const { pid, host, epoch, startedAt } = JSON.parse(readFileSync(noteFile(file), 'utf8'))
    if (typeof pid !== 'number' || typeof host !== 'string') return undefined
    return { pid, host, epoch: Number(epoch), startedAt: Number(startedAt) }
  } catch {
    return undefined
  }
}

export function removeOwnerNote(file: string): void {
  rmSync(noteFile(file), { force: true })
}
