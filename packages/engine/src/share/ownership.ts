/** How processes that share a store find its owner. Only the store decides who owns it: a writer starts in one process only. */
import type { Whereabouts } from '@millrace/remote/internal'

export interface Ownership {
  /** The name of the store in messages: `the file`, `schema jobs`. */
  readonly store: string
  /** The remark in messages about an owner that has not said where it is. */
  readonly silence: string
  /** The delays between attempts to become the owner or to reach it, in milliseconds. */
  readonly pauseMs: { readonly least: number; readonly most: number }
  /** True if others find the owner only by what it has announced. */
  readonly isFoundByNote: boolean
  /**
   * The interval at which a process that is attached looks whether the owner is still the same, in milliseconds; undefined if an owner
   * that stands still keeps the store.
   */
  readonly lookEveryMs: number | undefined
  /** Resolves to the address at which this process listens if it is the owner. */
  listenAt(): Promise<Whereabouts>
  /** Resolves to what is known of the owner now. */
  look(): Promise<Sighting>
  /** Resolves to what the store itself says of the process that keeps it, for error messages; undefined if it says nothing. */
  holder(): Promise<string | undefined>
  /** Resolves to where an attempt to reach the owner goes; undefined while no owner is known. Called for each attempt. */
  reach(): Promise<Reached | undefined>
  /** Tells others who the owner is. */
  announce(note: OwnerNote): Promise<void>
  /** Takes an announcement back, unless a successor has made its own. */
  withdraw(note: OwnerNote): Promise<void>
}

/** The way to an owner. */
export interface Reached {
  readonly where: Whereabouts
  /** The address that the owner has announced. */
  readonly ownerUrl: string
}

/** Everything that is known of the owner of a store. Nothing is decided by it. */
export interface Sighting {
  /** False while another process is known to own the store: a writer would start in vain. */
  readonly mayBeFree: boolean
  /** The address of the owner, which may be gone; undefined while none is known. */
  readonly where: Whereabouts | undefined
  /** The announcement of the last owner, for people and error messages; undefined if there is nothing that can be understood. */
  readonly note: OwnerNote | undefined
}

/** The words of an owner about itself. */
export interface OwnerNote {
  readonly host: string
  /** The id of the machine's last start; empty if the system does not report it. */
  readonly boot: string
  readonly pid: number
  /** A number that grows each time an engine takes the store. */
  readonly epoch: number
  /** The schema version of the store. */
  readonly schema: number
  /** The name and version of the owner's library. */
  readonly library: string
  /** The lowest and highest version of the protocol. */
  readonly protocol: readonly [min: number, max: number]
  /** The address at which it is reached. */
  readonly url: string
}
