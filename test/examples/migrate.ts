/** What the tests of apps/examples/migrate have in common: the programs before and after a move, and what they print. */
import { readFileSync } from 'node:fs'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

const FOLDER = new URL('../../apps/examples/migrate/', import.meta.url)

/** Starts a program, such as `bullmq/before.ts`, with variables of its own in its environment. */
export function startMoved(path: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Program {
  const within = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return startProgram(new URL(path, FOLDER), args, ['env', ...within])
}

/** A path for a file of Millrace, which nobody else has. */
export const freshFile = (): string => `${temporaryFolder()}/shop.db`

/** Runs a program until it says so, then stops it as a deploy does. Returns what it printed. Some queues end the process by the signal. */
export async function runUntil(program: Program, last: RegExp): Promise<Streams & { readonly stderr: string }> {
  await program.said(last)
  program.child.kill('SIGTERM')
  const { code, signal, stderr } = await program.ended
  if (code !== 0 && signal !== 'SIGTERM') throw new Error(`ended with ${code ?? signal}: ${stderr}`)
  return { ...streamsOf(program.lines), stderr }
}

interface Streams {
  readonly event: readonly string[]
  readonly worker: readonly string[]
  readonly main: readonly string[]
}

/**
 * Lines by who printed them. A queue promises the order of its events, and that of a worker; it does not promise when they come beside the
 * lines of whoever enqueued the jobs.
 */
function streamsOf(lines: readonly string[]): Streams {
  const of = (prefix: string) => lines.filter((line) => line.startsWith(`${prefix}: `))
  return { event: of('event'), worker: of('worker'), main: lines.filter((line) => !/^(?:event|worker): /.test(line)) }
}

/** Returns the blocks of TypeScript of a guide that no program of the folder contains. */
export function foreignSnippets(guide: string, programs: readonly string[]): readonly string[] {
  const page = readFileSync(new URL(`../../docs/migrate/${guide}.md`, import.meta.url), 'utf8')
  const snippets = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text = '']) => text.trimEnd())
  if (snippets.length === 0) throw new Error(`docs/migrate/${guide}.md has no snippet`)
  const sources = programs.map((path) => flush(readFileSync(new URL(path, FOLDER), 'utf8')))
  return snippets.filter((snippet) => !sources.some((source) => source.includes(flush(snippet))))
}

/** Without indentation: a guide shows the inside of a block at its margin. */
const flush = (text: string): string => text.replace(/^ +/gm, '')
