/** The files that an application which bundles the engine needs beside its bundle. The settings of a bundler import this: docs/bundling.md. */
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { driverFolder } from '@millrace/sqlite'
import { runProcessFile, runThreadFile } from '@millrace/worker'
import { fileThreads } from './file/fileStore.ts'

/** The entries of the bundle that run in threads and child processes: the path of each by its name. The names must stay as they are. */
export const threads: Readonly<Record<string, string>> = Object.fromEntries(
  [...fileThreads, runThreadFile, runProcessFile].map((find) => {
    const path = fileURLToPath(find())
    return [basename(path, extname(path)), path]
  }),
)

/** The folder of the SQLite driver and its binaries. Its copy beside the bundle must have the name `better-sqlite3`. */
export const driver: string = driverFolder()
