/** The version of this program. */
import { readFileSync } from 'node:fs'

export function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  return manifest.version
}
