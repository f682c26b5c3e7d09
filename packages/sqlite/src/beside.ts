/** The files that lie beside a database: one place for their names. */
import { MIGRATIONS } from './migrations/list.ts'

/** The lock of the engine that has the database open: an SQLite file of 0 bytes. */
export const ownerFile = (file: string): string => `${file}-owner`
/** The pid, the host and the epoch of that engine, for people. */
export const noteFile = (file: string): string => `${file}-owner.json`
/** Room that is given up when the disk is full. */
export const ballastFile = (file: string): string => `${file}-ballast`
/** Lies there from the first start until its first commit: while it does, a database of 0 bytes is no loss. */
export const newFile = (file: string): string => `${file}-new`
export const walFile = (file: string): string => `${file}-wal`
/** The copy that is made before a migration shuts older versions out. */
export const copyFile = (file: string, migration: number): string => `${file}.before-${String(migration).padStart(3, '0')}`

/** Of SQLite and of the engine. */
export function filesBeside(file: string): readonly string[] {
  return [walFile(file), `${file}-shm`, `${file}-journal`, ownerFile(file), noteFile(file), ballastFile(file), newFile(file)]
}

/** All copies that a migration may have left. */
export function copiesBeside(file: string): readonly string[] {
  return MIGRATIONS.map(({ id }) => copyFile(file, id))
}

/** Files that only a database with content leaves beside it, those of the daemon included. */
export function tracesBeside(file: string): readonly string[] {
  return [ballastFile(file), ownerFile(file), walFile(file), `${file}-journal`, `${file}-control`]
}
