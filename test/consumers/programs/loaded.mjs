// Which modules of packages an import loads, in no order.
import { registerHooks } from 'node:module'

const loaded = []
registerHooks({
  load: (url, context, next) => {
    const [, name, file] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(.+)$/.exec(url) ?? []
    if (name !== undefined) loaded.push(`${name}/${file}`)
    return next(url, context)
  },
})
await import(process.argv[2])
process.stdout.write(JSON.stringify(loaded.sort()))
