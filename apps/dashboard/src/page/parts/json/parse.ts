/**
 * JSON as it was sent: numbers keep their digits, keys their order and repetitions. A text that was cut gives all that is there.
 * `JSON.parse` would round numbers beyond 2^53, and refuse a text that was cut.
 */

export interface Container {
  readonly kind: 'object' | 'array'
  readonly entries: readonly Entry[]
  /** The text ended within it. */
  readonly isCut: boolean
}

export interface Entry {
  /** Undefined for items of arrays. */
  readonly key: string | undefined
  readonly node: JsonNode
}

export interface Leaf {
  readonly kind: 'string' | 'number' | 'word'
  /** The value of a string, and what stands there of all else. */
  readonly text: string
  readonly isCut: boolean
}

export type JsonNode = Container | Leaf

/** Deeper values are shown as the text that they are. */
const DEPTH_MOST = 300

/** Returns undefined if the text is no JSON, nor the beginning of any. */
export function parseJson(text: string): JsonNode | undefined {
  try {
    const reader = new Reader(text)
    const node = reader.value(0)
    return node !== undefined && reader.isOver() ? node : undefined
  } catch (error) {
    if (error instanceof NoJson) return undefined
    throw error
  }
}

class NoJson extends Error {}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LAST_NUMBER = /-?(?:\d[\d.eE+-]*)?$/y
const WORD = /true|false|null/y
const SPACE = /[ \t\r\n]*/y
const WORDS = ['true', 'false', 'null']
const BEGUN_ESCAPE = /(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$/

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** True if nothing is left. */
  isOver(): boolean {
    this.#take(SPACE)
    return this.#at === this.#text.length
  }

  /** Returns undefined if the text ends before the value begins. */
  value(depth: number): JsonNode | undefined {
    if (depth > DEPTH_MOST) throw new NoJson()
    if (this.isOver()) return undefined
    const first = this.#text[this.#at]
    if (first === '{') return this.#container('object', '}', depth)
    if (first === '[') return this.#container('array', ']', depth)
    if (first === '"') return this.#string()
    return this.#leaf()
  }

  #container(kind: Container['kind'], end: string, depth: number): Container {
    const entries: Entry[] = []
    const cut = { kind, entries, isCut: true } as const
    this.#at++
    if (this.#passes(end)) return { kind, entries, isCut: false }
    while (true) {
      const key = kind === 'object' ? this.#key() : undefined
      if (kind === 'object' && key === undefined) return cut
      const node = this.value(depth + 1)
      if (node === undefined) return cut
      entries.push({ key, node })
      if (this.#passes(end)) return { kind, entries, isCut: false }
      if (this.#passes(',')) continue
      if (this.isOver()) return cut
      throw new NoJson()
    }
  }

  /** Returns the key, and stands behind its colon; undefined if the text ends before. */
  #key(): string | undefined {
    if (this.isOver()) return undefined
    if (this.#text[this.#at] !== '"') throw new NoJson()
    const { text, isCut } = this.#string()
    if (isCut || this.isOver()) return undefined
    if (!this.#passes(':')) throw new NoJson()
    return text
  }

  #string(): Leaf {
    const begin = this.#at
    const end = endOfString(this.#text, begin)
    this.#at = end ?? this.#text.length
    const begun = this.#text.slice(begin, this.#at)
    if (end !== undefined) return { kind: 'string', text: decoded(begun), isCut: false }
    const begunEscape = BEGUN_ESCAPE.exec(begun)?.[1]?.length ?? 0
    return { kind: 'string', text: decoded(`${begun.slice(0, begun.length - begunEscape)}"`), isCut: true }
  }

  #leaf(): Leaf {
    // The end of the text may be within its digits.
    const last = this.#take(LAST_NUMBER)
    if (last !== undefined) return { kind: 'number', text: last, isCut: true }
    const number = this.#take(NUMBER)
    if (number !== undefined) return { kind: 'number', text: number, isCut: false }
    const word = this.#take(WORD)
    if (word !== undefined) return { kind: 'word', text: word, isCut: false }
    const rest = this.#text.slice(this.#at)
    if (!WORDS.some((each) => each.startsWith(rest))) throw new NoJson()
    this.#at = this.#text.length
    return { kind: 'word', text: rest, isCut: true }
  }

  #passes(sign: string): boolean {
    this.#take(SPACE)
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}

/** Returns the place behind the closing quotation mark; undefined if there is none. No pattern: one of them took for ever at a cut. */
function endOfString(text: string, begin: number): number | undefined {
  for (let at = begin + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return undefined
}

function decoded(literal: string): string {
  try {
    return JSON.parse(literal) as string
  } catch {
    throw new NoJson()
  }
}
