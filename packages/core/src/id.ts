/**
 * Job ids: valid UUIDv7 that say when the job was enqueued, on which node (a number that belongs to the file) and in which
 * row, so that a look-up by id needs no index. Layout of the bits after the 48-bit time and the version: the row's high 12
 * bits, the variant, the row's low 36 bits, the node's 26 bits. Ids of one file sort by (time, row).
 */

/** What an id says: with these three a job is found, and told apart from any other file's. */
export interface JobKey {
  /** Row number in the file; never reused. */
  readonly seq: number
  /** The file (or the producer's journal) that made the id. */
  readonly node: number
  /** Milliseconds since 1970, UTC. */
  readonly enqueuedAt: number
}

export const NODE_LIMIT = 2 ** 26
export const SEQ_LIMIT = 2 ** 48
const TIME_LIMIT = 2 ** 48

const PATTERN = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/i

export function formatId({ seq, node, enqueuedAt }: JobKey): string {
  const time = hex(enqueuedAt, 12)
  const high = hex(Math.floor(seq / 2 ** 36), 3)
  const middle = hex(0x8000 + (Math.floor(seq / 2 ** 22) % 2 ** 14), 4)
  const low = hex((seq % 2 ** 22) * NODE_LIMIT + node, 12)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${middle}-${low}`
}

/** The key that an id says, or undefined where the text is no id of ours. */
export function parseId(id: string): JobKey | undefined {
  const parts = PATTERN.exec(id)
  if (parts === null) return undefined
  const [, t1, t2, high, middle, low] = parts as unknown as [string, string, string, string, string, string]
  const tail = Number.parseInt(low, 16)
  const seq = Number.parseInt(high, 16) * 2 ** 36 + (Number.parseInt(middle, 16) % 2 ** 14) * 2 ** 22 + Math.floor(tail / NODE_LIMIT)
  const enqueuedAt = Number.parseInt(t1 + t2, 16)
  if (enqueuedAt >= TIME_LIMIT) return undefined
  return { seq, node: tail % NODE_LIMIT, enqueuedAt }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
