/** A server that a peer needs: started on a folder of its own, for one run. */
import type { Durability } from '../../measurement.ts'

export interface ServerKind {
  readonly name: string
  /** Why it cannot be started here; undefined where it can. */
  missing(): string | undefined
  version(): string
  start(folder: string, durability: Durability): Promise<Server>
}

export interface Server {
  readonly address: string
  stop(): Promise<void>
}
