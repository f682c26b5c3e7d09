/**
 * A run of tests has a folder of its own for temporary files. However the run ends, also by `kill -9`, nothing of it stays: a keeper waits for its
 * end, ends the processes that are left, and removes the folder.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** By these, what a run starts finds its folder, and the keeper finds what the run has started. */
const VARIABLES = ['TMPDIR', 'TEMP', 'TMP'] as const

/** Temporary files of this process, and of all that it starts from now on, are in a folder of their own until this process ends. */
export function beginRun(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-run-')))
  // The Postgres of a run that root has started runs as another user.
  chmodSync(folder, 0o711)
  const keeper = spawn(process.execPath, [fileURLToPath(new URL('./keeper.ts', import.meta.url)), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C reaches the run alone.
    detached: true,
  })
  keeper.unref()
  ;(keeper.stdin as unknown as { unref(): void }).unref()
  for (const name of VARIABLES) process.env[name] = folder
  return folder
}
