/** Finds out what the last word of a command line may be: a word, or a name of which kind, and of which engine. */
import type { TargetOptions } from '../target.ts'
import type { Kind } from './kinds.ts'
import { type Flag, type Node, valueFlags } from './tree.ts'

export interface Slot {
  readonly kind: Kind
  /** Part of the last word before the name: `a,` of `a,b`. */
  readonly before: string
  /** The part of the name that is typed already. */
  readonly typed: string
  /** The flags that name the engine. */
  readonly target: TargetOptions
}

/** @param words those behind `millrace`; the last is the one that is completed, and may be empty */
export function slotOf(nodes: readonly Node[], words: readonly string[]): Slot | undefined {
  const byPath = new Map(nodes.map((node) => [node.path, node]))
  const takesValue = new Set(valueFlags(nodes))
  const given: Record<string, string> = {}
  let node = byPath.get('') as Node
  let flag: string | undefined
  let place = 0
  for (const word of words.slice(0, -1)) {
    const [name = '', value] = word.startsWith('--') ? word.split(/=(.*)/s) : [word]
    if (flag !== undefined) {
      given[flag] = word
      flag = undefined
    } else if (value !== undefined) given[name] = value
    else if (takesValue.has(word)) flag = word
    else if (!word.startsWith('-')) {
      const next = byPath.get(`${node.path} ${word}`.trim())
      if (next === undefined || place > 0) place++
      else node = next
    }
  }
  const last = words.at(-1) ?? ''
  const target = targetIn(given)
  if (flag !== undefined) return inFlag(node, flag, last, target)
  const argument = node.arguments[Math.min(place, node.arguments.length - 1)]
  if (last.startsWith('-') || argument?.kind === undefined || (place >= node.arguments.length && !argument.variadic)) return undefined
  return { kind: argument.kind, before: '', typed: last, target }
}

/** Flags whose value may be several names, separated by commas. */
const LISTS = /^--(?:queues|names|state|type|events|scopes)$/

/** Returns the place in the value of a flag, which may be a list. */
function inFlag(node: Node, name: string, last: string, target: TargetOptions): Slot | undefined {
  const flag = node.flags.find(({ names }) => names.includes(name)) as Flag | undefined
  if (flag?.kind === undefined) return undefined
  const comma = LISTS.test(name) ? last.lastIndexOf(',') + 1 : 0
  return { kind: flag.kind, before: last.slice(0, comma), typed: last.slice(comma), target }
}

function targetIn(given: Readonly<Record<string, string>>): TargetOptions {
  const names = ['file', 'url', 'token', 'postgres', 'schema'] as const
  return Object.fromEntries(names.flatMap((name) => (given[`--${name}`] === undefined ? [] : [[name, given[`--${name}`]]])))
}
