/**
 * Lets an attached thread have its pages read: it asks the thread that has the readers, by a channel beside the one to
 * the writer, so that nothing else passes by that thread.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { CommandOf, ReplyOf } from '@millrace/core'
import type { Paged, Readers } from './readers.ts'

interface Asked {
  readonly id: number
  readonly command: CommandOf<Paged>
}

interface Answered {
  readonly id: number
  readonly page?: ReplyOf[Paged]
  /** The reason for which there is no page. */
  readonly failure?: string
}

/** The first message over a port of the engine. */
interface Greeting {
  /** The channel to the readers; undefined if the writer reads pages itself. */
  readonly line: MessagePort | undefined
}

/** Greets the future user of a channel's other end, before this end is given away. */
export function greet(channel: MessagePort, readers: Pick<Readers, 'page' | 'closed'> | undefined): void {
  if (readers === undefined) {
    channel.postMessage({ line: undefined } satisfies Greeting)
    return
  }
  const { port1, port2 } = new MessageChannel()
  const answer = (answered: Answered): void => port1.postMessage(answered)
  port1.on('message', ({ id, command }: Asked) => {
    readers.page(command).then(
      (page) => answer({ id, page }),
      // When the engine ends, the caller is notified of that, as for all other calls without an answer.
      (error) => readers.closed || answer({ id, failure: error.message }),
    )
  })
  port1.unref()
  channel.postMessage({ line: port2 } satisfies Greeting, [port2])
}

/**
 * Returns the greeting of a port, which is there as soon as the port is. Returns undefined if the port is not an
 * engine's, or was attached to before.
 */
export function greetingOf(port: MessagePort): Greeting | undefined {
  return receiveMessageOnPort(port)?.message
}

/** The readers, as the attached thread asks them. */
export class ReaderLine {
  readonly #line: MessagePort
  readonly #asked = new Map<number, PromiseWithResolvers<ReplyOf[Paged]>>()
  #last = 0

  /** @param line a channel whose other end answers; it keeps no thread alive, since the port with the open calls does */
  constructor(line: MessagePort) {
    this.#line = line
    line.on('message', ({ id, page, failure }: Answered) => {
      const asked = this.#asked.get(id)
      this.#asked.delete(id)
      if (page === undefined) asked?.reject(new Error(failure))
      else asked?.resolve(page)
    })
    line.unref()
  }

  page(command: CommandOf<Paged>): Promise<ReplyOf[Paged]> {
    const id = ++this.#last
    const asked = Promise.withResolvers<ReplyOf[Paged]>()
    this.#asked.set(id, asked)
    this.#line.postMessage({ id, command } satisfies Asked)
    return asked.promise
  }

  close(): void {
    this.#line.close()
  }
}
