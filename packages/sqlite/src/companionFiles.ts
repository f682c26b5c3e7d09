/** The names of the files that lie beside a database. */
import { readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { MIGRATIONS } from './migrations/list.ts'

/** The lock of the engine that has the database open: an SQLite file of 0 bytes. */
export const ownerFile = (file: string): string => `${file}-owner`
/** The pid, the host and the epoch of that engine, for people. */
export const noteFile = (file: string): string => `${file}-owner.json`
/** The file whose room is given up when the disk is full. */
export const ballastFile = (file: string): string => `${file}-ballast`
/** Exists from the first start until its first commit. While it exists, a database of 0 bytes is not a loss. */
export const newFile = (file: string): string => `${file}-new`
export const walFile = (file: string): string => `${file}-wal`
/** The index of the log; SQLite makes it anew from the log. */
export const indexFile = (file: string): string => `${file}-shm`
/** The copy made before a migration that shuts out older versions. */
export const copyFile = (file: string, migration: number): string => `${file}.before-${String(migration).padStart(3, '0')}`

/** The copy made before a file is migrated down from a schema. If that is interrupted and begun again, the next copy has another name. */
export const copyDownFile = (file: string, from: number): string => `${file}.before-down-from-${String(from).padStart(3, '0')}`

/** The copy that an owner makes if the file or its log is taken away: the number is the owner's epoch, or the next that is free. */
export const savedFile = (file: string, number: number): string => `${file}.saved-${number}`

/** The names of all such copies that are there. */
export function savedCopies(file: string): readonly string[] {
  const prefix = basename(savedFile(file, 0)).slice(0, -1)
  return readdirSync(dirname(file)).filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
}

/** The files of SQLite and of the engine. */
export function companionFiles(file: string): readonly string[] {
  return [walFile(file), indexFile(file), `${file}-journal`, ownerFile(file), noteFile(file), ballastFile(file), newFile(file)]
}

/** All copies that a migration may have left. */
export function migrationCopies(file: string): readonly string[] {
  return MIGRATIONS.flatMap(({ id, down }) => [copyFile(file, id), ...(down === undefined ? [] : [copyDownFile(file, id)])])
}

/** The files that only a database with content leaves beside it, including those of the daemon. */
export function tracesOf(file: string): readonly string[] {
  return [ballastFile(file), ownerFile(file), walFile(file), `${file}-journal`, `${file}-control`]
}
