/** Timed pauses, from committed turns alone: none ends before its time unless somebody resumes it, and none outlasts it. */
import { LIMITS, type QueueEventBody } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Requests } from './requests.ts'

/** Turns in which an engine may end a pause after its time: each ends a slice of them. */
const TURNS_LATE = 20

export class Pauses {
  readonly #history: History
  readonly #requests: Requests
  #ends = new Map<string, number>()
  /** Turns that have seen a pause after its end. */
  readonly #late = new Map<string, number>()

  constructor(history: History, requests: Requests) {
    this.#history = history
    this.#requests = requests
  }

  /** Everything that is paused, and when the pause ends; Infinity for one without an end. */
  get ends(): ReadonlyMap<string, number> {
    return this.#ends
  }

  /** Compares a turn with the one before. `paused`: everything that is paused now, whatever its end. */
  commit({ events, pauseEnds, queuesGone }: Effects, paused: ReadonlySet<string>, wall: number): void {
    const before = this.#ends
    const noted = new Map(
      [...pauseEnds.values()].filter(({ queue }) => !queue.gone).map((end) => [placeOf(end.queue.name, end.part, end.what), end.until]),
    )
    const resumed = new Set<string>()
    for (const note of events)
      if (note.job === undefined && 'queue' in note.body && note.body.type === 'queue.resumed') resumed.add(placeOfEvent(note.body))
    this.#ends = new Map()
    for (const place of paused) {
      const until = noted.get(place) ?? (resumed.has(place) ? 0 : (before.get(place) ?? 0))
      this.#ends.set(place, until === 0 ? Number.POSITIVE_INFINITY : until)
    }
    const gone = new Set(queuesGone.map(({ name }) => name))
    const kept = (place: string) => !resumed.has(place) && !gone.has(place.split(' ')[0] as string)
    for (const [place, end] of before) if (kept(place)) this.#kept(place, end)
    for (const [place, until] of noted) if (until > 0 && paused.has(place)) this.#began(place, until, before.get(place), wall)
    for (const place of resumed) this.#resumed(place, before.get(place), wall)
    for (const place of this.#late.keys()) if ((this.#ends.get(place) ?? Number.POSITIVE_INFINITY) > wall) this.#late.delete(place)
    for (const [place, end] of this.#ends) if (end <= wall) this.#overdue(place, end, wall)
  }

  #kept(place: string, end: number): void {
    const now = this.#ends.get(place)
    this.#history.hold(now !== undefined && now >= end, 24, () => `the pause of ${place} was to end at ${end}, and ends at ${now}`)
  }

  #began(place: string, until: number, before: number | undefined, wall: number): void {
    this.#history.meet(before === undefined ? 'timedPause' : 'pauseExtended')
    const asked = this.#requests.pausesOf(place)
    this.#history.hold(
      asked.has(until - wall),
      24,
      () => `${place} is paused for ${until - wall} ms, and was asked to be for ${[...asked]}`,
    )
  }

  #resumed(place: string, end: number | undefined, wall: number): void {
    const over = end !== undefined && end <= wall
    if (over) this.#history.meet('pauseOver')
    const may = over || this.#requests.askedToResume(place)
    this.#history.hold(may, 24, () => `${place} is resumed at ${wall}, and was to be paused until ${end}`)
  }

  #overdue(place: string, end: number, wall: number): void {
    const turns = (this.#late.get(place) ?? 0) + 1
    this.#late.set(place, turns)
    const may = turns <= (LIMITS.sliceRows > TURNS_LATE ? 0 : TURNS_LATE)
    this.#history.hold(may, 47, () => `the pause of ${place} was to end at ${end}, and it is ${wall}`)
  }
}

/** Names a pause among all: of a queue, or of a job name or a key in it. */
export function placeOf(queue: string, part: string, what: string): string {
  return `${queue} ${part} ${what}`
}

function placeOfEvent({ queue, name, key }: QueueEventBody): string {
  if (name !== undefined) return placeOf(queue, 'name', name)
  return key === undefined ? placeOf(queue, 'queue', '') : placeOf(queue, 'key', key)
}
