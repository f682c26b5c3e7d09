/** The building blocks of the schema: settings with a default and a description, in sections and in records of sections. */
import { isError, OptionTypeError } from '@millrace/core'
import { z } from 'zod'

/** The description of a setting, for the reference and for `config show`. */
export interface About {
  /** One or two sentences: what the setting does, its unit and its bounds. */
  readonly text: string
  /**
   * The part of the value that is never shown: true for all of it, `url` for all of a URL behind its host, or the path of the secret in it.
   * Credentials in URLs are shown of no setting.
   */
  readonly secret?: true | 'url' | readonly string[]
}

const ABOUT = z.registry<About>()

export function aboutOf(schema: z.ZodType): About | undefined {
  return ABOUT.get(schema)
}

/** Declares a setting that is undefined if nobody sets it. */
export function setting<Schema extends z.ZodType>(schema: Schema, about: string | About): z.ZodOptional<Schema> {
  const optional = schema.optional()
  ABOUT.add(optional, typeof about === 'string' ? { text: about } : about)
  return optional
}

/** Declares a setting with a default, which is checked like any other value. */
export function settingOr<Schema extends z.ZodType>(
  schema: Schema,
  preset: z.input<Schema> & {},
  about: string | About,
): z.ZodPrefault<Schema> {
  const filled = schema.prefault(preset)
  ABOUT.add(filled, typeof about === 'string' ? { text: about } : about)
  return filled
}

/** Declares a group of settings under its own name. */
export function section<Shape extends z.ZodRawShape>(shape: Shape): z.ZodPrefault<z.ZodObject<Shape, z.core.$strict>> {
  return z.strictObject(shape).prefault({} as never)
}

/** Validates a value with a check of the engine, and keeps it as it was written. An error of the check becomes the issue. */
export function checked<Value>(check: (value: unknown) => unknown): z.ZodType<Value, Value> {
  return z.unknown().superRefine((value, context) => {
    try {
      check(value)
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) })
    }
  }) as unknown as z.ZodType<Value, Value>
}

/** Replaces a value by the result of a check of the engine. An error of the check becomes the issue. */
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
  return isError(error) ? error.message : String(error)
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
