/** Checks payloads against their schemas. */
import { ValidationError } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** Returns the schema's output for `value`; a promise if the schema is asynchronous. Throws, or rejects with, ValidationError. */
export function checkSchema(schema: StandardSchemaV1, name: string, value: unknown): unknown {
  const result = schema['~standard'].validate(value)
  return result instanceof Promise ? result.then((settled) => outputOf(settled, name)) : outputOf(result, name)
}

function outputOf(result: StandardSchemaV1.Result<unknown>, name: string): unknown {
  if (result.issues === undefined) return result.value
  const issues = result.issues.map(({ message, path }) => ({
    message,
    ...(path && { path: path.map((segment) => toKey(typeof segment === 'object' ? segment.key : segment)) }),
  }))
  const [first] = issues
  const where = first?.path === undefined || first.path.length === 0 ? '' : ` at ${first.path.join('.')}`
  throw new ValidationError(`the data of job '${name}' does not satisfy its schema${where}: ${first?.message ?? 'no reason given'}`, {
    issues,
  })
}

function toKey(key: PropertyKey): string | number {
  return typeof key === 'number' ? key : String(key)
}
