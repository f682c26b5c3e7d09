/**
 * Converts between UTC and wall times. A *wall time* is what clocks show in a zone, counted as if it were UTC:
 * milliseconds since 1970.
 */

const HOUR_MS = 3_600_000
/** Longer than any zone's offset from UTC, and shorter than the time between two clock changes of one zone. */
const AROUND_MS = 26 * HOUR_MS
const ZONES_MAX = 100

/** Zones by name; the least recently used are dropped. */
const zones = new Map<string, Zone>()

/** @throws Error if the zone is unknown */
export function zoneOf(name: string): Zone {
  let zone = zones.get(name)
  if (zone === undefined) zone = new Zone(name)
  else zones.delete(name)
  zones.set(name, zone)
  if (zones.size > ZONES_MAX) zones.delete(zones.keys().next().value as string)
  return zone
}

export class Zone {
  readonly #format: Intl.DateTimeFormat | undefined

  constructor(name: string) {
    this.#format = name === 'UTC' ? undefined : formatOf(name)
  }

  /** Returns the difference between wall time and UTC at `at`, in milliseconds. */
  offset(at: number): number {
    if (this.#format === undefined) return 0
    const parts: Record<string, string> = {}
    for (const { type, value } of this.#format.formatToParts(at)) parts[type] = value
    const { year, month, day, hour, minute, second } = parts
    const wall = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
    return wall - Math.floor(at / 1_000) * 1_000
  }

  /**
   * Returns the last wall time that clocks have shown up to `at`. After clocks have gone back, that is later than the
   * current wall time, which is then shown for the second time.
   */
  shownUntil(at: number): number {
    const [now, before] = [this.offset(at), this.offset(at - AROUND_MS)]
    if (before <= now) return at + now
    const change = this.#changeIn(at - AROUND_MS, at)
    return Math.max(at + now, change + before - 1)
  }

  /** Returns the moment at which clocks first show a wall time. If they skip it, returns the moment at which they go forward. */
  firstShows(wall: number): number {
    const [before, after] = [this.offset(wall - AROUND_MS), this.offset(wall + AROUND_MS)]
    const first = wall - Math.max(before, after)
    if (before === after || this.offset(first) === wall - first) return first
    const second = wall - Math.min(before, after)
    if (this.offset(second) === wall - second) return second
    return this.#changeIn(wall - AROUND_MS, wall + AROUND_MS)
  }

  /** Returns the first moment at which the offset differs from the offset at `from`. */
  #changeIn(from: number, to: number): number {
    const before = this.offset(from)
    let [low, high] = [from, to]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.offset(middle) === before) low = middle
      else high = middle
    }
    return high
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
}
