/** A socket and nothing behind it, until it is killed. */
import { createServer } from 'node:net'

createServer().listen(process.argv[2], () => process.stdout.write('listening\n'))
