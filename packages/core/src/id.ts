/**
 * Job ids: valid UUIDv7 that say when the job was enqueued, on which node (a number that belongs to the file) and in which
 * row, so that a look-up by id needs no index. Layout of the bits after the 48-bit time and the version: the row's high 12
 * bits, the variant, the row's low 36 bits, the node's 26 bits. Ids of one file sort by (time, row).
 *
 * Where a producer's journal makes the id, the row is not known yet: in its place stands the job's place in the journal, and the node
 * is the journal's number. Inside the engine such a job has a row like any other, and both numbers in `node`, which is then 2^26 or
 * more: whatever carries a JobKey carries either kind.
 */

/** The three numbers in an id: they find a job, and tell it from the jobs of any other file. */
export interface JobKey {
  /** Row number in the file; never reused. */
  readonly seq: number
  /** The maker of the id: the file's number, below 2^26, or the value of `sourcedNode` for a producer's journal. */
  readonly node: number
  /** Milliseconds since 1970, UTC. */
  readonly enqueuedAt: number
}

export const NODE_LIMIT = 2 ** 26
export const SEQ_LIMIT = 2 ** 48
/** Places in a producer's journal are below it, so that a place and a number fit into one safe integer. */
export const PLACE_LIMIT = 2 ** 27

const PATTERN = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-([89ab][0-9a-f]{3})-([0-9a-f]{12})$/i

/** Returns the node of a job that has this place, from 1, in the journal of that number. */
export function sourcedNode(place: number, number: number): number {
  return place * NODE_LIMIT + number
}

/** The ids of a run of jobs have this in common: they are asked for job after job, of one file and mostly of one millisecond. */
const shared = { enqueuedAt: -1, above: -1, node: -1, before: '', behind: '' }

export function formatId(key: JobKey): string {
  const { enqueuedAt } = key
  const sourced = key.node >= NODE_LIMIT
  const seq = sourced ? Math.floor(key.node / NODE_LIMIT) : key.seq
  const node = sourced ? key.node % NODE_LIMIT : key.node
  const above = Math.floor(seq / 2 ** 22)
  if (enqueuedAt !== shared.enqueuedAt || above !== shared.above || node !== shared.node) share(enqueuedAt, above, node)
  // The row's low 22 bits, and the node's two high ones: a small integer, which turns into text far faster than a large one.
  return shared.before + hex((seq % 2 ** 22) * 4 + Math.floor(node / 2 ** 24), 6) + shared.behind
}

function share(enqueuedAt: number, above: number, node: number): void {
  const time = hex(enqueuedAt, 12)
  const high = hex(Math.floor(above / 2 ** 14), 3)
  const middle = hex(0x8000 + (above % 2 ** 14), 4)
  shared.before = `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${middle}-`
  shared.behind = hex(node % 2 ** 24, 6)
  shared.enqueuedAt = enqueuedAt
  shared.above = above
  shared.node = node
}

/** The key that an id says (of a journal's job: its place and the journal's number), or undefined where the text is no id of ours. */
export function parseId(id: string): JobKey | undefined {
  const parts = PATTERN.exec(id)
  if (parts === null) return undefined
  const [, t1, t2, high, middle, low] = parts as unknown as [string, string, string, string, string, string]
  const tail = Number.parseInt(low, 16)
  const seq = Number.parseInt(high, 16) * 2 ** 36 + (Number.parseInt(middle, 16) % 2 ** 14) * 2 ** 22 + Math.floor(tail / NODE_LIMIT)
  return { seq, node: tail % NODE_LIMIT, enqueuedAt: Number.parseInt(t1 + t2, 16) }
}

/** The parts of an id in which jobs of a list differ: the end of its time, and the row's low 22 bits, as the dashboard shows them. */
const SHORT = /^[0-9a-f]{4}-([0-9a-f]{6})$/i
export const SHORT_ROWS = 2 ** 22

/** Returns "7c60-01275d" of 01a20941-7c60-7000-8000-01275d5b9b95. */
export function shortId(id: string): string {
  return `${id.slice(9, 13)}-${id.slice(24, 30)}`
}

/** Returns the row of a short id, modulo `SHORT_ROWS`; undefined if the text is none. */
export function rowOfShortId(text: string): number | undefined {
  const [, low] = SHORT.exec(text) ?? []
  return low === undefined ? undefined : Math.floor(Number.parseInt(low, 16) / 4)
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
