/** A run that has a temporary file and a process of its own, and never ends. It prints its folder, and the id of that process. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beginRun } from '../run.ts'

const folder = beginRun()
writeFileSync(join(folder, 'file'), '')
const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], {
  stdio: 'ignore',
  detached: true,
})
process.stdout.write(`${JSON.stringify({ folder, pid: child.pid })}\n`)
setInterval(() => {}, 1000)
