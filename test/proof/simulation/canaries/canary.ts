/**
 * Planted bugs. Each replaces one piece of a source file before it is run, in the run that asks for it alone: the product has no
 * trace of them. A simulator that does not find them all is not looking.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

export interface Canary {
  readonly name: string
  /** From the repository's root. */
  readonly file: string
  readonly find: string
  readonly replace: string
  /** What it is expected to break; others may see it first. */
  readonly breaks: string
}

/** What a canary changes; throws where there is not exactly one place for it. */
export function planted({ name, file, find, replace }: Canary): { readonly url: string; readonly source: string } {
  const url = new URL(`../../../../${file}`, import.meta.url)
  const source = readFileSync(fileURLToPath(url), 'utf8')
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`canary ${name}: what it replaces is in ${file} ${places} times`)
  return { url: url.href, source: source.replace(find, () => replace) }
}

/** From here on modules are loaded with the bug in them: to be called before the engine is. */
export function plant(canary: Canary): void {
  const { url, source } = planted(canary)
  registerHooks({
    load: (loaded, context, next) => (loaded === url ? { format: 'module-typescript', source, shortCircuit: true } : next(loaded, context)),
  })
}
