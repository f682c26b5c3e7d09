// Tells each package of which a file is loaded, in any thread of the process, in the file that TOLD names. It also tells undici, which Node has
// in itself for `fetch` and WebSockets.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const OWN = /\/(packages|apps)\/([^/]+)\/dist\//
const INSTALLED = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//

const tell = (name) => appendFileSync(process.env['TOLD'], `${isMainThread ? 'main' : 'thread'} ${name}\n`)

registerHooks({
  load(url, context, next) {
    const [, kind, own] = OWN.exec(url) ?? []
    const name = own === undefined ? INSTALLED.exec(url)?.[1] : kind === 'apps' ? own : `@millrace/${own}`
    if (name !== undefined) tell(name)
    return next(url, context)
  },
})

process.on('exit', () => {
  if (process.moduleLoadList.some((name) => name.endsWith('/undici'))) tell('undici')
})
