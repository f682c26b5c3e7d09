/** The version of this package, which all packages of Millrace share. */
import { readFileSync } from 'node:fs'

/** Returns undefined if a bundle has left the manifest behind: what lies in its place says nothing of this package. */
export function ownVersion(): string | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    return name === '@millrace/engine' ? version : undefined
  } catch {
    return undefined
  }
}
