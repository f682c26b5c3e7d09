/** A job as callers name it: by its id, or by a key that they have given it. */
import { OptionTypeError } from '../errors.ts'
import type { HeldKey } from '../keyCommands.ts'
import { describe } from './describe.ts'
import { checkKnown } from './known.ts'
import { nameOption } from './name.ts'
import { textOption } from './text.ts'

/** The job that holds a key: the live one with that unique key, or the first one with that idempotency key. */
export type JobOfKey =
  | { readonly name: string; readonly uniqueKey: string; readonly idempotencyKey?: never }
  | { readonly name: string; readonly idempotencyKey: string; readonly uniqueKey?: never }

/** A job: its id, or its name with a key. */
export type JobRef = string | JobOfKey

const KNOWN = new Set(['name', 'uniqueKey', 'idempotencyKey'])

/** @throws OptionTypeError, OptionRangeError */
export function heldKeyOption(value: unknown): HeldKey {
  if (typeof value !== 'object' || value === null)
    throw new OptionTypeError(
      'job',
      `a job is named by its id, or by { name, uniqueKey } or { name, idempotencyKey }, got ${describe(value)}`,
    )
  checkKnown('job', value, KNOWN)
  const { name, uniqueKey, idempotencyKey } = value
  if ((uniqueKey === undefined) === (idempotencyKey === undefined))
    throw new OptionTypeError('job', `a job is named by one key: give either uniqueKey or idempotencyKey beside its name`)
  const of = nameOption('name', name)
  return uniqueKey === undefined
    ? { kind: 'idempotency', name: of, key: textOption('idempotencyKey', idempotencyKey) }
    : { kind: 'unique', name: of, key: textOption('uniqueKey', uniqueKey) }
}
