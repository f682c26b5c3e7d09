/** Asks once and does not say that it is done: `caller.ts SOCKET`. */
import { connect } from '@millrace/remote'

const engine = await connect(`unix:${process.argv[2]}`)
process.stdout.write(`${JSON.stringify((await engine.stats()).states)}\n`)
