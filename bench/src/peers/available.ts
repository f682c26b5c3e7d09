/** Which peers can be measured here, in which versions; of the others, why not. */
import { findPackage } from './packages.ts'
import type { Peer } from './peer.ts'

export interface AvailablePeer {
  readonly peer: Peer
  readonly versions: Readonly<Record<string, string>>
}

/** The reason, as a text, where it cannot be measured. */
export function availablePeer(peer: Peer, packages: string): AvailablePeer | string {
  const versions: Record<string, string> = {}
  for (const name of peer.packages) {
    const found = findPackage(name, packages)
    if (found === undefined) return `the package ${name} is not installed (see --packages in bench/README.md)`
    versions[name] = found.version
  }
  const missing = peer.server?.missing()
  if (missing !== undefined) return missing
  if (peer.server !== undefined) versions[peer.server.name] = peer.server.version()
  return { peer, versions }
}
