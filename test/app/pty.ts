/** A program in a terminal of its own, as script(1) makes one. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Program, startProgram } from '../program.ts'
import type { Place } from './millrace.ts'

const MAIN = fileURLToPath(new URL('../../apps/millrace/dist/main.js', import.meta.url))

export function found(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}

/** Runs a line of sh in the terminal. What it writes to the terminal is its stdout. */
export function inTerminal(place: Place, line: string, env: Readonly<Record<string, string>> = {}): Program {
  writeFileSync(
    place.path('run.mjs'),
    `
import { spawn } from 'node:child_process'
// What says how a terminal is to look, and is not of this one.
const { CI, NO_COLOR, FORCE_COLOR, MILLRACE_URL, MILLRACE_TOKEN, ...env } = process.env
const own = JSON.parse(process.argv[3])
const child = spawn('script', ['-qefc', process.argv[2], '/dev/null'], { stdio: 'inherit', env: { ...env, TERM: 'xterm', ...own } })
process.on('SIGTERM', () => {})
child.on('exit', (code) => process.exit(code ?? 1))
`,
  )
  const own = { MILLRACE_FILE: place.file, MILLRACE_STATE_DIR: place.path('state'), ...env }
  return startProgram(new URL(`file://${place.path('run.mjs')}`), [line, JSON.stringify(own)])
}

/** The line of sh that runs millrace, in a terminal of so many columns and rows. */
export function millraceLine(args: readonly string[], size?: { readonly columns: number; readonly rows: number }): string {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  return size === undefined ? command : `stty cols ${size.columns} rows ${size.rows}; exec ${command}`
}
