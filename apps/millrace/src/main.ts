#!/usr/bin/env node
/** `millrace`: the queue as a program. */
import module from 'node:module'

// A command is a process of its own: what was compiled once is not compiled anew. A Node that is too old has no such thing, and is to say so.
module.enableCompileCache?.()
const { run } = await import('./cli/run.ts')
const code = await run(process.argv.slice(2), process)
// What an interrupted command was waiting for keeps nothing alive; what was written before has left first.
process.stdout.write('', () => process.exit(code))
