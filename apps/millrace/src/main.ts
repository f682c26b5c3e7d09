#!/usr/bin/env node
/** `millrace`: the queue as a program. */
import { enableCompileCache } from 'node:module'

// A command is a process of its own: what was compiled once is not compiled anew.
enableCompileCache()
const { run } = await import('./cli/run.ts')
const code = await run(process.argv.slice(2), process)
// What an interrupted command was waiting for keeps nothing alive; what was written before has left first.
process.stdout.write('', () => process.exit(code))
