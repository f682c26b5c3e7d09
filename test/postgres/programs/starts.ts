/** Starts a Postgres, prints its URL, and waits to be killed. */
import { findBinaries } from '../binaries.ts'
import { startServer } from '../server.ts'

const binaries = findBinaries()
if ('missing' in binaries) throw new Error(binaries.missing)
const { url } = await startServer(binaries)
process.stdout.write(`${url}\n`)
