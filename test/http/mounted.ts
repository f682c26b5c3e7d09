/** Apps of others that serve the API, as docs/http.md writes them: each in a process of its own, at a port that is free. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

const PAGE = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8')
export const TOKEN = 'test-token-0123456789abcdef'

/** Returns the code that follows a mark on the page. */
export function codeAfter(mark: string): string {
  const at = PAGE.indexOf(mark)
  const code = /```ts\n(.*?)^```$/ms.exec(PAGE.slice(at))?.[1]
  if (at < 0 || code === undefined) throw new Error(`docs/http.md has no code after ${mark}`)
  return code
}

/** Writes the code into a folder that has what it imports. */
export function folderWith(name: string, code: string): URL {
  const folder = temporaryFolder()
  symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
  writeFileSync(join(folder, name), code)
  return pathToFileURL(join(folder, name))
}

/** Makes 8080 a port that is free, and prints it. */
const TELLS = `data:text/javascript,${encodeURIComponent(`import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (at, ...given) {
  this.once('listening', () => console.log('listening at ' + this.address().port))
  return listen.call(this, at === 8080 ? 0 : { ...at, port: at.port === 8080 ? 0 : at.port }, ...given)
}`)}`

/** Starts a program that listens at 8080, and returns the origin that it listens at instead. */
export async function startApp(program: URL, ...args: readonly string[]): Promise<string> {
  const folder = temporaryFolder()
  const { said } = startProgram(program, args, ['env', '-C', folder, `QUEUE_TOKEN=${TOKEN}`, `NODE_OPTIONS=--import=${TELLS}`])
  const port = (await said(/^listening at \d+$/)).slice('listening at '.length)
  return `http://127.0.0.1:${port}`
}
