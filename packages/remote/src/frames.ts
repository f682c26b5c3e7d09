/** Sends many items in as few frames as their size allows, in order. */
import { type Delivery, type Grant, isErrorOf, type JournalEvent, type Reply } from '@millrace/core'
import { encodeCounted, HEADER_BYTES, type Message } from '@millrace/wire'
import { BOUNDS } from './limits.ts'

export interface Cut<Item> {
  readonly message: (items: readonly Item[]) => Message
  /** The limit for the bytes of a payload. */
  readonly frameBytes: number
  /** The limit for the items of all arrays and maps in it. */
  readonly elements: number
  readonly send: (frame: Uint8Array) => void
  /** Called with an item that alone is more than the other end accepts, and the reason. */
  readonly refuse: (item: Item, reason: string) => void
}

/** Encodes all items at once, and halves a batch that is too large. Returns true if all went in one frame. */
export function sendCut<Item>(items: readonly Item[], cut: Cut<Item>): boolean {
  if (items.length <= BOUNDS.itemsPerFrame) {
    const encoded = encodeWithin(cut.message(items), cut)
    if (typeof encoded !== 'string') {
      cut.send(encoded)
      return true
    }
    if (items.length === 1) {
      cut.refuse(items[0] as Item, encoded)
      return false
    }
  }
  const half = Math.ceil(items.length / 2)
  sendCut(items.slice(0, half), cut)
  sendCut(items.slice(half), cut)
  return false
}

/** Returns the frame, or the reason why the other end would not accept it. */
function encodeWithin(message: Message, bounds: Pick<Cut<never>, 'frameBytes' | 'elements'>): Uint8Array | string {
  try {
    const { frame, elements } = encodeCounted(message)
    const bytes = frame.length - HEADER_BYTES
    if (bytes > bounds.frameBytes) return `${bytes} bytes, and at most ${bounds.frameBytes} cross a connection`
    if (elements > bounds.elements) return `${elements} items in arrays and maps, and at most ${bounds.elements} cross a connection`
    return frame
  } catch (error) {
    if (!isErrorOf(error, 'TooLargeError')) throw error
    return `more than a connection carries: ${error.message}`
  }
}

/**
 * Returns a delivery as one or several small ones: replies, then notices, grants and events. A receiver that takes them in turn
 * does the same as with all at once. A slice with several kinds always fits into one frame.
 */
export function* slices(delivery: Delivery): Iterable<Delivery> {
  const { replies, grants, notices, events, renewal } = delivery
  const counts = replies.length + grants.length + notices.length + events.length
  if (
    counts <= BOUNDS.itemsPerFrame &&
    weigh(replies, weighReply) + weigh(grants, weighGrant) + weigh(events, weighEvent) <= BOUNDS.sliceBytes
  ) {
    yield delivery
    return
  }
  const empty: Delivery = { replies: [], grants: [], notices: [], events: [], renewal }
  for (const some of lots(replies, weighReply)) yield { ...empty, replies: some }
  for (const some of lots(notices, () => 0)) yield { ...empty, notices: some }
  for (const some of lots(grants, weighGrant)) yield { ...empty, grants: some }
  for (const some of lots(events, weighEvent)) yield { ...empty, events: some }
}

function weigh<Item>(items: readonly Item[], weightOf: (item: Item) => number): number {
  let units = 0
  for (const item of items) units += weightOf(item)
  return units
}

function* lots<Item>(items: readonly Item[], weightOf: (item: Item) => number): Iterable<readonly Item[]> {
  let from = 0
  let units = 0
  for (const [index, item] of items.entries()) {
    units += weightOf(item)
    if (units < BOUNDS.sliceBytes && index + 1 - from < BOUNDS.itemsPerFrame) continue
    yield items.slice(from, index + 1)
    from = index + 1
    units = 0
  }
  if (from < items.length) yield items.slice(from)
}

// Weights are in UTF-16 units of everything that may be large: counting bytes exactly takes as long as encoding them.

function weighGrant({ data, checkpoint, meta, tags }: Grant): number {
  return weighValue(data) + weighValue(checkpoint) + weighValue(meta) + weighValue(tags)
}

function weighReply({ value, refusal }: Reply): number {
  return weighValue(value) + weighValue(refusal)
}

function weighEvent(event: JournalEvent): number {
  return 'error' in event ? weighValue(event.error) : 'key' in event ? weighValue(event.key) : 0
}

function weighValue(value: unknown, depth = 0): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return 0
  let units = 0
  if (Array.isArray(value)) for (const item of value) units += ITEM_UNITS + weighValue(item, depth + 1)
  else for (const key in value) units += key.length + weighValue((value as Readonly<Record<string, unknown>>)[key], depth + 1)
  return units
}

/** Values that lie deeper are not sent, so they weigh nothing. */
const DEPTH_MAX = 10
/** The weight of each item of an array: the most that a number takes. */
const ITEM_UNITS = 9
