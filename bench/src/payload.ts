/** What every job of every run carries, ours, the limit's and the peers': 120 bytes of JSON, of which some digits are its number. */

export interface Payload {
  readonly path: string
  readonly width: number
  readonly height: number
  readonly format: string
  readonly quality: number
  readonly user: string
  readonly tag: string
}

const BEFORE = 'uploads/img-'
const AFTER = '.jpg'

/** Jobs of a backlog that are not measured themselves. */
export const BACKLOG_TAG = 'bbbbbb'

export function payloadOf(index: number, tag = 'aaaaaa'): Payload {
  const path = `${BEFORE}${String(index).padStart(6, '0')}${AFTER}`
  return { path, width: 1920, height: 1080, format: 'webp', quality: 82, user: 'u-0001', tag }
}

/** What each step of every job returns: 100 bytes of JSON. */
export const STEP_RESULT = 'r'.repeat(98)

/** The number that `payloadOf` was given. */
export function indexOf(payload: unknown): number {
  const { path } = payload as Payload
  return Number(path.slice(BEFORE.length, -AFTER.length))
}

export const PAYLOAD_BYTES = JSON.stringify(payloadOf(1)).length
