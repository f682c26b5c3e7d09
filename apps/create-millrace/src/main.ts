#!/usr/bin/env node
/** The entry point of `npm create millrace`. */
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), process)
