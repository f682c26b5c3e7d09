/** The size of JSON in lines, and its first values in one line. */
import { escaped } from '../../format/escaped.ts'
import type { JsonNode } from './parse.ts'

/** Returns how many lines a value has when all of it is open; counting stops above `most`. */
export function linesOf(node: JsonNode, most: number): number {
  if (!isContainer(node) || node.entries.length === 0) return 1
  let lines = 2
  for (const entry of node.entries) {
    lines += linesOf(entry.node, most - lines)
    if (lines > most) break
  }
  return lines
}

export function isContainer(node: JsonNode): node is Extract<JsonNode, { readonly entries: unknown }> {
  return node.kind === 'object' || node.kind === 'array'
}

export interface Pair {
  /** The path of the value: "user.id"; empty for a value that is no object. */
  readonly name: string
  readonly value: string
  readonly isRedacted: boolean
}

/** The server writes this in place of a value that it hides. */
export const REDACTED = '[redacted]'
const VALUE_LENGTH = 80

/** Returns the first values as pairs: those near the root before those deep within. */
export function pairsOf(node: JsonNode, most: number): readonly Pair[] {
  const pairs: Pair[] = []
  let level: readonly (readonly [name: string, node: JsonNode])[] = [['', node]]
  while (level.length > 0 && pairs.length < most) {
    const inner: (readonly [name: string, node: JsonNode])[] = []
    for (const [name, each] of level) {
      if (!isContainer(each)) pairs.push(pairOf(name, each.text, each.kind === 'string'))
      else if (each.entries.length === 0) pairs.push(pairOf(name, each.kind === 'object' ? '{}' : '[]', false))
      else
        for (const [place, { key, node: value }] of each.entries.slice(0, most).entries())
          inner.push([name === '' ? `${key ?? place}` : `${name}.${key ?? place}`, value])
    }
    level = inner
  }
  return pairs.slice(0, most)
}

function pairOf(name: string, text: string, isString: boolean): Pair {
  return { name: escaped(name), value: escaped(text.slice(0, VALUE_LENGTH)), isRedacted: isString && text === REDACTED }
}
