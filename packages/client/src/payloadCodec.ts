/**
 * Applies the codec to stored data: encodes it on the way to the engine, and decodes it on the way back, here and nowhere
 * else. Neither the engine nor its file sees the plain data, and neither handlers nor callers see the codec.
 */
import {
  type Codec,
  CodecError,
  type CommandOf,
  type CompleteCommand,
  type Data,
  type Grant,
  isError,
  type JobChanges,
  type NewJob,
  type Operation,
  type ReplyOf,
  type StepCommand,
  type StepResult,
} from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

type Calls = Pick<Mailbox, 'call'>

/** Commands that a worker may repeat. */
type Repeatable = CompleteCommand | StepCommand

/** Operations whose replies have data of handlers. Replies about jobs are decoded where a job is made of them. */
type Decoded = 'parents' | 'getSchedule' | 'recorded' | 'wait'

type Decoders = { readonly [Op in Decoded]: (reply: ReplyOf[Op]) => ReplyOf[Op] }

/** The first byte of the codec's input: the kind of data. */
const TEXT = 0
const BYTES = 1

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class PayloadCodec {
  readonly #codec: Codec
  readonly #maxBytes: number
  /** Encoded commands, for as long as a worker may repeat them. */
  readonly #repeatable = new WeakMap<Repeatable, Repeatable>()
  readonly #decoders: Decoders = {
    parents: (page) => ({ ...page, parents: page.parents.map((one) => ({ ...one, output: this.decode('output', one.output) })) }),
    getSchedule: (view) =>
      view && {
        ...view,
        job: { ...view.job, data: this.decode('data', view.job.data) },
        result: view.result && { ...view.result, output: this.decode('output', view.result.output) },
      },
    recorded: (page) => ({ ...page, results: this.#decodedSteps(page.results) }),
    wait: (reply) => ({ ...reply, results: this.#decodedSteps(reply.results) }),
  }

  constructor(codec: Codec, maxBytes: number) {
    this.#codec = codec
    this.#maxBytes = maxBytes
  }

  /** @throws CodecError */
  encode(what: string, data: Data): Data {
    if (data === null) return null
    const encoded = this.#run('encode', what, framed(data))
    if (encoded.byteLength > this.#maxBytes) {
      const message = `codec.encode has made ${encoded.byteLength} bytes of ${what}, and at most ${this.#maxBytes} are stored: raise maxDataBytes`
      throw new CodecError(message)
    }
    // A view of a larger buffer would take the whole buffer along to the engine's thread.
    return encoded.byteLength === encoded.buffer.byteLength ? encoded : new Uint8Array(encoded)
  }

  /**
   * Decodes stored data. A string was stored before there was a codec, which stores only bytes.
   *
   * @throws CodecError
   */
  decode(what: string, data: Data): Data {
    if (data === null || typeof data === 'string') return data
    const plain = this.#run('decode', what, data)
    if (plain[0] === BYTES) return new Uint8Array(plain.subarray(1))
    if (plain[0] === TEXT) return this.#text(what, plain.subarray(1))
    throw new CodecError(`codec.decode has answered no ${what} that was encoded here: it begins with ${plain[0] ?? 'nothing'}`)
  }

  encodeJobs(jobs: readonly NewJob[]): readonly NewJob[] {
    return jobs.map((job) => ({ ...job, data: this.encode('data', job.data) }))
  }

  decodeGrant(grant: Grant): Grant {
    return { ...grant, data: this.decode('data', grant.data), checkpoint: this.decode('checkpoint', grant.checkpoint) }
  }

  /** Returns calls whose data is encoded on the way, and whose replies are decoded. */
  around(calls: Calls): Calls {
    return {
      call: <Op extends Operation>(command: CommandOf<Op>): Promise<ReplyOf[Op]> => {
        try {
          const reply = calls.call<Op>(this.#encoded(command as CommandOf<Operation>) as CommandOf<Op>)
          const decode: ((reply: never) => unknown) | undefined = this.#decoders[command.op as Decoded]
          return decode === undefined ? reply : reply.then((value) => decode(value as never) as ReplyOf[Op])
        } catch (error) {
          return Promise.reject(error)
        }
      },
    }
  }

  #encoded(command: CommandOf<Operation>): CommandOf<Operation> {
    switch (command.op) {
      case 'complete':
        return this.#encodedOnce(command, ({ enqueues, output, ...rest }) => ({
          ...{ ...rest, output: this.encode('output', output) },
          ...(enqueues && { enqueues: this.encodeJobs(enqueues) }),
        }))
      case 'step':
        return this.#encodedOnce(command, (step) => ({ ...step, value: this.encode('step', step.value) }))
      case 'send':
        return { ...command, value: this.encode('message', command.value) }
      case 'join':
        return { ...command, jobs: this.encodeJobs(command.jobs) }
      case 'checkpoint':
        return { ...command, value: this.encode('checkpoint', command.value) }
      case 'update':
        return { ...command, changes: this.#encodedChanges(command.changes) }
      case 'byKey':
        return command.changes === undefined ? command : { ...command, changes: this.#encodedChanges(command.changes) }
      case 'flow': {
        const nodes = command.nodes.map((node) => ({ ...node, job: { ...node.job, data: this.encode('data', node.job.data) } }))
        return { ...command, nodes }
      }
      case 'upsertSchedule':
        return { ...command, job: { ...command.job, data: this.encode('data', command.job.data) } }
      default:
        return command
    }
  }

  #encodedChanges(changes: JobChanges): JobChanges {
    const { data, checkpoint } = changes
    return {
      ...changes,
      ...(data !== undefined && { data: this.encode('data', data) }),
      ...(checkpoint !== undefined && { checkpoint: this.encode('checkpoint', checkpoint) }),
    }
  }

  /** Encodes a command once: a repeat counts as the same only with the same bytes, and a codec may return other bytes each time. */
  #encodedOnce<C extends Repeatable>(command: C, encode: (command: C) => C): C {
    const before = this.#repeatable.get(command) as C | undefined
    if (before !== undefined) return before
    const encoded = encode(command)
    this.#repeatable.set(command, encoded)
    return encoded
  }

  #decodedSteps(results: readonly StepResult[]): readonly StepResult[] {
    return results.map((each) => ({ ...each, value: this.decode('step', each.value) }))
  }

  #run(method: 'encode' | 'decode', what: string, bytes: Uint8Array): Uint8Array {
    let made: unknown
    try {
      made = this.#codec[method](bytes)
    } catch (cause) {
      const reason = isError(cause) ? cause.message : String(cause)
      throw new CodecError(`codec.${method} has thrown for the ${what} of the job: ${reason}`, {}, { cause })
    }
    if (made instanceof Uint8Array) return made
    if (made instanceof Promise) made.catch(() => {})
    const kind = made instanceof Promise ? 'a promise' : typeof made
    throw new CodecError(`codec.${method} answers a Uint8Array, not ${kind}: fetch keys before the engine is opened`)
  }

  #text(what: string, bytes: Uint8Array): string {
    try {
      return decoder.decode(bytes)
    } catch (cause) {
      throw new CodecError(`codec.decode has answered ${what} that is no text`, {}, { cause })
    }
  }
}

function framed(data: string | Uint8Array): Uint8Array {
  if (typeof data === 'string') return encoder.encode(`\0${data}`)
  const bytes = new Uint8Array(data.byteLength + 1)
  bytes[0] = BYTES
  bytes.set(data, 1)
  return bytes
}
