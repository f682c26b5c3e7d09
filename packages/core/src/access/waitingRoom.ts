/**
 * A bounded number of places for those who have yet to say who they are. Where it is full, whoever has waited longest of the address that
 * has the most is sent away for one of an address that has fewer: nobody alone can take all places.
 */
export class WaitingRoom {
  readonly #places: number
  /** How to send each away, the longest there first. */
  readonly #byAddress = new Map<string | undefined, Set<() => void>>()
  #taken = 0

  constructor(places: number) {
    this.#places = places
  }

  /**
   * Answers how to leave, which counts once; undefined where there is no room.
   *
   * @param address undefined for those who cannot be told apart
   * @param sendAway the place is another's by then
   */
  enter(address: string | undefined, sendAway: () => void): (() => void) | undefined {
    if (this.#taken >= this.#places && !this.#makeRoom(address)) return undefined
    const others = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, others)
    // Told apart, also where two give the same function.
    const place = () => sendAway()
    others.add(place)
    this.#taken++
    return () => this.#leave(address, place)
  }

  /** Sends away whoever has waited longest of the address that has the most; answers whether there was anybody. */
  crowdOut(): boolean {
    return this.#sendAway(0)
  }

  #makeRoom(address: string | undefined): boolean {
    return this.#sendAway((this.#byAddress.get(address)?.size ?? 0) + 1)
  }

  /** Of an address that has more than so many. */
  #sendAway(more: number): boolean {
    let largest: Set<() => void> | undefined
    let crowded: string | undefined
    for (const [other, places] of this.#byAddress) {
      if (other === undefined || places.size <= (largest?.size ?? more)) continue
      largest = places
      crowded = other
    }
    const [oldest] = largest ?? []
    if (oldest === undefined) return false
    this.#leave(crowded, oldest)
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
