/** Describes the faults of a request in the words of the library. */
import type { z } from '@hono/zod-openapi'
import { choiceMeant, describe, optionHint } from '@millrace/core'

/** An issue as zod passes it to an error map. */
type Issue = Parameters<z.core.$ZodErrorMap>[0]

/** The words for types. Those that are missing here, such as `null`, are shown as zod names them. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

/** Each item of an array may have an issue. Those of the first faults are among this many. */
const COMPOSED = 1_000

/** Composes sentences for the issues of one request. */
export class Words {
  #composed = 0
  /** The schemas of the known keys of each object that has unknown ones, by the path of the object. */
  readonly #shapes = new Map<string, z.core.$ZodShape>()

  /** Returns the predicate of a sentence whose subject is the path, or undefined to keep zod's message. */
  of(issue: Issue): string | undefined {
    if (++this.#composed > COMPOSED) return ''
    switch (issue.code) {
      case 'invalid_type':
        return typeSentence(issue)
      case 'invalid_value':
        return choiceSentence(issue.values, issue.input)
      case 'too_small':
        return boundSentence('at least', issue.origin, issue.minimum, issue.input)
      case 'too_big':
        return boundSentence('at most', issue.origin, issue.maximum, issue.input)
      case 'unrecognized_keys':
        this.#shapes.set(placeOf(issue.path ?? []), shapeOf(issue.inst as z.core.$ZodType | undefined))
        return undefined
      case 'invalid_union':
        return `must be of another form, got ${describe(issue.input)}: see /docs`
      default:
        return undefined
    }
  }

  unknownKey(path: readonly PropertyKey[], key: string): string {
    const shape = this.#shapes.get(placeOf(path)) ?? {}
    if (key in shapeOf(shape['options'])) return `belongs in options: { "options": { "${key}": … } }`
    const known = Object.keys(shape)
    const hint = optionHint(key, new Set(known)) ?? elsewhere(key, shape) ?? `it accepts ${known.join(', ')}`
    return `is unknown: ${hint}`
  }
}

/** Returns a hint to an option of `options` if the key that stands beside it is probably meant for it. */
function elsewhere(key: string, shape: z.core.$ZodShape): string | undefined {
  const inOptions = new Set(Object.keys(shapeOf(shape['options'])))
  return inOptions.size === 0 ? undefined : optionHint(key, inOptions, (option) => `'options.${option}'`)
}

/** Returns the fields of an object's schema, also behind `optional` and `nullable`. */
function shapeOf(schema: z.core.$ZodType | undefined): z.core.$ZodShape {
  const def = schema?._zod.def as { readonly shape?: z.core.$ZodShape; readonly innerType?: z.core.$ZodType } | undefined
  return def?.shape ?? (def?.innerType === undefined ? {} : shapeOf(def.innerType))
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.')
}

function typeSentence({ expected, input }: Issue & { readonly expected?: unknown }): string {
  const wanted = TYPES[String(expected)] ?? String(expected)
  return input === undefined ? `is missing: it must be ${wanted}` : `must be ${wanted}, got ${describe(input)}`
}

function choiceSentence(values: readonly unknown[], input: unknown): string {
  const texts = values.map((value) => JSON.stringify(value))
  const meant = typeof input === 'string' ? choiceMeant(input, values.map(String)) : undefined
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
  const found = input === undefined ? 'is missing: it must be' : 'must be'
  return `${found} ${texts.join(' or ')}${input === undefined ? '' : `, got ${describe(input)}`}${hint}`
}

const COUNTED: Readonly<Record<string, string>> = { string: ' characters', array: ' items', set: ' items', object: ' keys' }

function boundSentence(word: 'at least' | 'at most', origin: string, bound: number | bigint, input: unknown): string {
  const counted = COUNTED[origin]
  if (counted === undefined) return `must be ${word} ${bound}, got ${describe(input)}`
  const { length } = (input ?? '') as { readonly length?: number }
  return `must have ${word} ${bound}${counted}${length === undefined ? '' : `, got ${length}`}`
}
