/** What the schema is made of: settings with a default and a sentence, in sections and in records of sections. */
import { OptionTypeError } from '@millrace/core'
import { z } from 'zod'

/** What is said of a setting, in the reference and by `config show`. */
export interface About {
  /** What it does, its unit and its bounds: one sentence or two. */
  readonly text: string
  /** Never shown: all of it, or what is at this path in it. */
  readonly secret?: true | readonly string[]
}

const ABOUT = z.registry<About>()

export function aboutOf(schema: z.ZodType): About | undefined {
  return ABOUT.get(schema)
}

/** A setting that is undefined where nobody sets it. */
export function setting<Schema extends z.ZodType>(schema: Schema, about: string | About): z.ZodOptional<Schema> {
  const optional = schema.optional()
  ABOUT.add(optional, typeof about === 'string' ? { text: about } : about)
  return optional
}

/** A setting with a default, which is checked like any other value. */
export function settingOr<Schema extends z.ZodType>(
  schema: Schema,
  preset: z.input<Schema> & {},
  about: string | About,
): z.ZodPrefault<Schema> {
  const filled = schema.prefault(preset)
  ABOUT.add(filled, typeof about === 'string' ? { text: about } : about)
  return filled
}

/** Settings under a name of their own. */
export function section<Shape extends z.ZodRawShape>(shape: Shape): z.ZodPrefault<z.ZodObject<Shape, z.core.$strict>> {
  return z.strictObject(shape).prefault({} as never)
}

/** A value as a check of the engine takes it: what it throws is the problem, and the value stays as it was written. */
export function checked<Value>(check: (value: unknown) => unknown): z.ZodType<Value, Value> {
  return z.unknown().superRefine((value, context) => {
    try {
      check(value)
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) })
    }
  }) as unknown as z.ZodType<Value, Value>
}

/** A value as a check of the engine answers it. */
export function read<Value, Input = unknown>(check: (value: unknown) => Value): z.ZodType<Value, Input> {
  return z.unknown().transform((value, context) => {
    try {
      return check(value)
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) })
      return z.NEVER
    }
  }) as unknown as z.ZodType<Value, Input>
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function text(option: string): z.ZodType<string, string> {
  return read((value) => {
    if (typeof value === 'string' && value !== '') return value
    throw new OptionTypeError(option, `${option} must be a string that is not empty`)
  })
}

export function texts(option: string, what: string): z.ZodType<readonly string[], readonly string[]> {
  return read((value) => {
    if (Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')) return value as readonly string[]
    throw new OptionTypeError(option, `${option} must be a list of ${what}`)
  })
}
