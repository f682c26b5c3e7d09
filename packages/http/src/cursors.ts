/** Signed cursors of pages: only a cursor that was handed out for the same list is accepted. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalid } from './errors.ts'

const MAC_BYTES = 16

export class Cursors {
  readonly #secret: Uint8Array

  constructor(secret: Uint8Array) {
    this.#secret = secret
  }

  /** @param list that the place is in: `jobs`, `schedules` */
  sign(list: string, place: string | undefined): string | undefined {
    return place === undefined ? undefined : `${Buffer.from(place).toString('base64url')}.${this.#mac(list, place).toString('base64url')}`
  }

  /** @throws HttpError 400 */
  open(list: string, cursor: string | undefined): string | undefined {
    if (cursor === undefined) return undefined
    const [head = '', tail = ''] = cursor.split('.')
    const place = Buffer.from(head, 'base64url').toString()
    const mac = Buffer.from(tail, 'base64url')
    if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, this.#mac(list, place))) {
      throw invalid("after is the 'next' of an earlier page of the same list", [
        { path: 'query.after', message: 'not a cursor that was handed out' },
      ])
    }
    return place
  }

  #mac(list: string, place: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${list}\n${place}`).digest().subarray(0, MAC_BYTES)
  }
}
