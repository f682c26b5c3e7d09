/** One of several objects, which a word distinguishes: an array whose first field (behind the caller's own) is that word's number. */
import type { Reader } from '../msgpack/reader.ts'
import type { Writer } from '../msgpack/writer.ts'
import { FIELDS_MAX, type Kind } from './kinds.ts'
import { type Fields, type RecordKind, record } from './record.ts'

interface Variant {
  readonly code: number
  readonly fields: RecordKind<object>
}

export interface UnionKind<Tag extends string, T extends { readonly [Name in Tag]: string }> extends Kind<T> {
  readonly variants: Readonly<Record<T[Tag], Variant>>
  /** Writes the value behind `lead` fields of the caller, which `front` writes. */
  writeBehind(out: Writer, value: T, lead: number, front?: () => void): void
  /** Reads the rest of an array, which has `left` more fields: the first says which object it is. */
  readRest(from: Reader, left: number): T
}

type Variants<Tag extends string, T extends { readonly [Name in Tag]: string }> = {
  readonly [Word in T[Tag]]: { readonly code: number; readonly fields: Fields<Omit<Extract<T, { readonly [Name in Tag]: Word }>, Tag>> }
}

export function union<Tag extends string, T extends { readonly [Name in Tag]: string }>(
  name: string,
  tag: Tag,
  declared: Variants<Tag, T>,
): UnionKind<Tag, T> {
  const words = Object.keys(declared) as T[Tag][]
  const variants = {} as Record<T[Tag], Variant>
  const byCode: (T[Tag] | undefined)[] = []
  for (const word of words) {
    const { code, fields } = declared[word]
    variants[word] = { code, fields: record(word, fields as Fields<object>) }
    byCode[code] = word
  }
  const kind: UnionKind<Tag, T> = {
    says: name,
    variants,
    writeBehind(out, value, lead, front) {
      const { code, fields } = variants[value[tag]]
      const length = fields.head(out, value, lead + 1)
      front?.()
      out.number(code)
      fields.writeFields(out, value, length)
    },
    write(out, value) {
      kind.writeBehind(out, value, 0)
    },
    readRest(from, left) {
      from.where = tag
      if (left < 1) throw from.wrong(`is missing: ${name} begins with it`)
      const code = from.integer()
      const word = byCode[code]
      if (word === undefined) throw from.wrong(`${code} is none that is known: see docs/protocol.md`)
      return variants[word].fields.readInto(from, left - 1, { [tag]: word }) as T
    },
    read(from) {
      return kind.readRest(from, from.array(FIELDS_MAX))
    },
  }
  return kind
}
