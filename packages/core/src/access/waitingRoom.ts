/**
 * A bounded number of places for clients that have yet to identify themselves. When it is full, a client of an address with fewer
 * places replaces the one that has waited longest of the address with the most. No single address can take all places.
 */
export class WaitingRoom {
  readonly #places: number
  /** Functions that send a client away, by address, the longest there first. */
  readonly #byAddress = new Map<string | undefined, Set<() => void>>()
  #taken = 0

  constructor(places: number) {
    this.#places = places
  }

  /**
   * Takes a place. Returns the function that leaves it, which counts once, or undefined if there is no room.
   *
   * @param address undefined for clients that cannot be distinguished
   * @param sendAway called once the place is no longer the client's
   */
  enter(address: string | undefined, sendAway: () => void): (() => void) | undefined {
    if (this.#taken >= this.#places && !this.#makeRoom(address)) return undefined
    const others = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, others)
    // Each place has its own function, even if two callers pass the same one.
    const place = () => sendAway()
    others.add(place)
    this.#taken++
    return () => this.#leave(address, place)
  }

  /** Sends away the client that has waited longest of the address that has the most. Returns true if there was one. */
  crowdOut(): boolean {
    return this.#sendAway(0)
  }

  #makeRoom(address: string | undefined): boolean {
    return this.#sendAway((this.#byAddress.get(address)?.size ?? 0) + 1)
  }

  /** Sends away a client of the address that has the most places, if it has more than `more`. */
  #sendAway(more: number): boolean {
    let largest: Set<() => void> | undefined
    let overfilled: string | undefined
    for (const [other, places] of this.#byAddress) {
      if (other === undefined || places.size <= (largest?.size ?? more)) continue
      largest = places
      overfilled = other
    }
    const [oldest] = largest ?? []
    if (oldest === undefined) return false
    this.#leave(overfilled, oldest)
    oldest()
    return true
  }

  #leave(address: string | undefined, place: () => void): void {
    const places = this.#byAddress.get(address)
    if (places?.delete(place) !== true) return
    this.#taken--
    if (places.size === 0) this.#byAddress.delete(address)
  }
}
