/** Layers of settings, each above the one before, and the origin of each value. */
import { optionHint } from '@millrace/core'
import type { z } from 'zod'
import { ConfigError } from './errors.ts'
import { KEYS, placeOf } from './keys.ts'
import { SCHEMA } from './schema/schema.ts'

/** The place where a value was written. */
export interface Origin {
  readonly layer: 'default' | 'file' | 'local file' | 'environment' | 'flag'
  /** The file (with its section), the variable, or the flag. */
  readonly name: string
}

export interface Layer {
  readonly origin: Origin
  readonly values: unknown
}

/** The parts of a key. They are a list because a name may contain dots. */
export type Path = readonly string[]

export interface Written {
  readonly path: Path
  readonly origin: Origin
}

/** Returns the key in readable form: `queues."mail.urgent".maxLength`. */
export function keyText(path: Path): string {
  return path.map((part) => (part.includes('.') ? JSON.stringify(part) : part)).join('.')
}

export class Layers {
  /** The values as they were written. Only their keys are checked. */
  readonly values: Record<string, unknown> = {}
  /** Every setting that was written, by its key. */
  readonly written = new Map<string, Written>()

  /** Adds a layer above the others. Sections are merged; a setting replaces the whole setting below it. @throws ConfigError */
  add({ origin, values }: Layer): void {
    this.#put(SCHEMA, values, this.values, [], origin)
  }

  #put(schema: z.ZodType, values: unknown, into: Record<string, unknown>, path: Path, origin: Origin): void {
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new ConfigError([
        `${path.length === 0 ? 'the configuration' : `'${keyText(path)}'`} in ${origin.name} must be an object of settings`,
      ])
    const place = placeOf(schema)
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue
      const here = [...path, name]
      const inner = place.kind === 'section' ? known(place.shape, name, path, origin) : place.kind === 'named' ? place.value : schema
      if (name === '__proto__') throw new ConfigError([`'${keyText(here)}' in ${origin.name}: no name is '__proto__'`])
      if (placeOf(inner).kind === 'setting') {
        into[name] = value
        this.written.set(keyText(here), { path: here, origin })
      } else {
        const section = (Object.hasOwn(into, name) ? into[name] : {}) as Record<string, unknown>
        into[name] = section
        this.#put(inner, value, section, here, origin)
      }
    }
  }
}

function known(shape: Readonly<Record<string, z.ZodType>>, name: string, path: Path, origin: Origin): z.ZodType {
  const schema = Object.hasOwn(shape, name) ? shape[name] : undefined
  if (schema !== undefined) return schema
  throw new ConfigError([`unknown key '${keyText([...path, name])}' in ${origin.name}: ${meant(name, Object.keys(shape))}`])
}

/** The maximum number of names that an error lists. */
const FEW = 12

/** Suggests what an unknown name may mean: the nearest name, a key of another section, or all names if they are few. */
export function meant(name: string, names: readonly string[]): string {
  const elsewhere = KEYS.find(({ key }) => key.endsWith(`.${name}`))?.key
  if (elsewhere !== undefined) return `did you mean '${elsewhere}'?`
  const hint = optionHint(name, new Set(names))
  return hint ?? (names.length > FEW ? 'millrace config show lists all settings' : `it accepts ${names.join(', ')}`)
}
