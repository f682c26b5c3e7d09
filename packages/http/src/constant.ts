/** A text that is the same for all callers: one buffer for each content coding, made when it is first wanted, however many read it. */
import { text } from './answer.ts'
import { compress } from './compress.ts'
import { type Coding, codingOf } from './dashboard/coding.ts'

const encoder = new TextEncoder()

/** Returns a function that answers with the text that `make` returns, compressed as the client prefers it. */
export function constant(type: string, make: () => string): (request: Request) => Promise<Response> {
  let plain: Uint8Array<ArrayBuffer> | undefined
  const compressed = new Map<Coding, Promise<Uint8Array<ArrayBuffer>>>()
  return async ({ headers }) => {
    plain ??= encoder.encode(make())
    const coding = codingOf(headers.get('accept-encoding'), compress)
    if (coding === undefined) return text(plain, type, { vary: 'accept-encoding' })
    const body = compressed.get(coding) ?? compress[coding](plain)
    compressed.set(coding, body)
    return text(await body, type, { vary: 'accept-encoding', 'content-encoding': coding })
  }
}
