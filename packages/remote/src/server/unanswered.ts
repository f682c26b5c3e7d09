/** The requests of a connection that are not answered yet: beyond a limit its server stops reading. */
import { isPatient, LIMITS, type Reply, type Request, traitsOf } from '@millrace/core'
import { WireError } from '@millrace/wire'
import { BOUNDS } from '../limits.ts'

interface Frame {
  /** The number of its requests that are to be answered in turn. */
  left: number
  readonly bytes: number
}

export class Unanswered {
  /** Answers come in the order of the requests: the oldest frame has the next one. */
  readonly #frames: Frame[] = []
  #oldest = 0
  #requests = 0
  #bytes = 0
  readonly #patient = new Set<number>()
  /** Requests that give up a watch, with the request of that watch: until they are answered, it may be answered too. */
  readonly #unwatching = new Map<number, number>()

  /** True if no more may be read for now. */
  get full(): boolean {
    return this.#requests >= LIMITS.commandsInFlight || this.#bytes >= BOUNDS.bytesInFlight
  }

  get requests(): number {
    return this.#requests + this.#patient.size
  }

  /** @throws WireError if two unanswered requests have one number, or too many results are waited for */
  ask(requests: readonly Request[], bytes: number): void {
    let left = requests.length
    for (const { id, command } of requests) {
      if (this.#patient.size > 0 && this.#patient.has(id))
        throw new WireError('BAD_MESSAGE', `request ${id} is not answered yet: take another number`)
      if (command.op === 'unwatch' && this.#patient.has(command.request)) this.#unwatching.set(id, command.request)
      if (!isPatient(traitsOf(command.op))) continue
      if (this.#patient.size >= BOUNDS.watches) {
        throw new WireError(
          'BAD_MESSAGE',
          `one connection waits for at most ${BOUNDS.watches} results and events: open another, or wait for fewer`,
        )
      }
      this.#patient.add(id)
      left--
    }
    if (left === 0) return
    this.#frames.push({ left, bytes })
    this.#requests += left
    this.#bytes += bytes
  }

  answer(replies: readonly Reply[]): void {
    let answered = replies.length
    if (this.#patient.size > 0) for (const { id } of replies) if (this.#takePatient(id)) answered--
    while (answered > 0) {
      const frame = this.#frames[this.#oldest]
      if (frame === undefined) break
      const taken = Math.min(answered, frame.left)
      frame.left -= taken
      this.#requests -= taken
      answered -= taken
      if (frame.left > 0) break
      this.#bytes -= frame.bytes
      this.#oldest++
    }
    // The frames before the oldest are over: they are cut off now and then.
    if (this.#oldest > 64) {
      this.#frames.splice(0, this.#oldest)
      this.#oldest = 0
    }
  }

  /** Returns true if the reply answers a patient request. */
  #takePatient(id: number): boolean {
    if (this.#patient.delete(id)) return true
    const given = this.#unwatching.get(id)
    if (given !== undefined) {
      this.#unwatching.delete(id)
      this.#patient.delete(given)
    }
    return false
  }
}
