/** The name of the new package, as npm allows it. */
import { builtinModules } from 'node:module'
import { UsageError } from './errors.ts'

const LENGTH_MAX = 214
const VALID = /^(?:@[a-z\d~-][a-z\d._~-]*\/)?[a-z\d~-][a-z\d._~-]*$/
const TAKEN = new Set(['node_modules', 'favicon.ico', ...builtinModules])

/** @throws UsageError if npm would refuse the name */
export function checkName(name: string): string {
  const wrong = faultOf(name)
  if (wrong === undefined) return name
  const valid = suggested(name)
  throw new UsageError(
    `'${name}' is not a valid package name: ${wrong}.${valid === undefined ? '' : ` Name the package with --name ${valid}, or name the folder so.`}`,
  )
}

function faultOf(name: string): string | undefined {
  if (name === '') return 'it is empty'
  if (name.length > LENGTH_MAX) return `it must have at most ${LENGTH_MAX} characters, got ${name.length}`
  if (TAKEN.has(name)) return 'Node or npm has that name'
  if (!VALID.test(name)) return "it must consist of a-z, 0-9, '-', '.', '_' and '~', and must not begin with '.' or '_'"
  return undefined
}

/** Returns a valid name that is close to the given one, if there is one. */
function suggested(name: string): string | undefined {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z\d._~-]+/g, '-')
    .replace(/^[-._]+|[-._]+$/g, '')
    .slice(0, LENGTH_MAX)
  const valid = TAKEN.has(plain) ? `${plain.replace(/[^a-z\d]+/g, '-')}-app` : plain
  return faultOf(valid) === undefined ? valid : undefined
}
