/** Many items in as few frames as their size allows, in order. */
import type { Delivery, Grant, Reply } from '@millrace/core'
import { encodeMessage, HEADER_BYTES, type Message } from '@millrace/wire'
import { BOUNDS } from './limits.ts'

export interface Cut<Item> {
  readonly message: (items: readonly Item[]) => Message
  /** Of a payload. */
  readonly frameBytes: number
  readonly send: (frame: Uint8Array) => void
  /** An item that alone is more. */
  readonly refuse: (item: Item, bytes: number) => void
}

/** Encodes all at once, and halves what turns out to be too large. */
export function sendCut<Item>(items: readonly Item[], cut: Cut<Item>): void {
  if (items.length <= BOUNDS.itemsPerFrame) {
    const frame = encodeMessage(cut.message(items))
    const bytes = frame.length - HEADER_BYTES
    if (bytes <= cut.frameBytes) {
      cut.send(frame)
      return
    }
    if (items.length === 1) {
      cut.refuse(items[0] as Item, bytes)
      return
    }
  }
  const half = Math.ceil(items.length / 2)
  sendCut(items.slice(0, half), cut)
  sendCut(items.slice(half), cut)
}

/**
 * A delivery as one or several, each small: replies, then notices, grants and events, so that whoever takes them one after the
 * other does what they would have done with all at once.
 */
export function* slices(delivery: Delivery): Iterable<Delivery> {
  const { replies, grants, notices, events, renewal } = delivery
  const counts = replies.length + grants.length + notices.length + events.length
  if (counts <= BOUNDS.itemsPerFrame && weigh(replies, weighReply) + weigh(grants, weighGrant) <= BOUNDS.sliceBytes) {
    yield delivery
    return
  }
  const empty: Delivery = { replies: [], grants: [], notices: [], events: [], renewal }
  for (const some of lots(replies, weighReply)) yield { ...empty, replies: some }
  for (const some of lots(notices, () => 0)) yield { ...empty, notices: some }
  for (const some of lots(grants, weighGrant)) yield { ...empty, grants: some }
  for (const some of lots(events, () => 0)) yield { ...empty, events: some }
}

function weigh<Item>(items: readonly Item[], weightOf: (item: Item) => number): number {
  let bytes = 0
  for (const item of items) bytes += weightOf(item)
  return bytes
}

function* lots<Item>(items: readonly Item[], weightOf: (item: Item) => number): Iterable<readonly Item[]> {
  let from = 0
  let bytes = 0
  for (const [index, item] of items.entries()) {
    bytes += weightOf(item)
    if (bytes < BOUNDS.sliceBytes && index + 1 - from < BOUNDS.itemsPerFrame) continue
    yield items.slice(from, index + 1)
    from = index + 1
    bytes = 0
  }
  if (from < items.length) yield items.slice(from)
}

/** What may be large in it: roughly, as counting bytes exactly takes as long as encoding them. */
function weighGrant({ data, checkpoint }: Grant): number {
  return lengthOf(data) + lengthOf(checkpoint)
}

function weighReply({ value }: Reply): number {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0
  const { data, output, checkpoint, jobs } = value as Readonly<Record<string, unknown>>
  let bytes = lengthOf(data) + lengthOf(output) + lengthOf(checkpoint)
  if (Array.isArray(jobs)) for (const job of jobs) bytes += weighReply({ id: 0, value: job })
  return bytes
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
}
