/** How processes that share a store find its owner. Who owns it the store alone decides: a writer starts in one process only. */

export interface Ownership {
  /** The address at which this process listens if it is the owner. */
  readonly listenUrl: string
  /** Resolves to the address of the owner. */
  whereIsTheOwner(): Promise<string>
  /** Tells others who the owner is. */
  announce(note: OwnerNote): void
  /** Takes an announcement back, unless a successor has made its own. */
  withdraw(note: OwnerNote): void
  /** Returns what the last owner announced, for people and error messages; undefined if there is nothing that can be understood. */
  announced(): OwnerNote | undefined
}

/** The words of an owner about itself. */
export interface OwnerNote {
  readonly host: string
  /** The id of the machine's last start; empty if the system does not report it. */
  readonly boot: string
  readonly pid: number
  /** The number of engines that have owned the store, including this one. */
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
