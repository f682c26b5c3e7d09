/** The option `payload`: how much of data, output and checkpoint a reading brings along. */
import { LIMITS } from '../limits.ts'
import { choiceOption } from './choice.ts'
import { checkKnown } from './known.ts'

export const PAYLOADS = ['data', 'output', 'checkpoint'] as const
/** A payload of a job. */
export type PayloadName = (typeof PAYLOADS)[number]

export const PAYLOAD_MODES = ['full', 'preview', 'none'] as const
/** The share of payloads that a read returns. */
export type PayloadMode = (typeof PAYLOAD_MODES)[number]

/** The options of `get`. */
export interface GetOptions {
  /** The share of data, output and checkpoint that is read: all ('full'), the first 64 KiB of each ('preview'), nothing ('none'). Default 'full'. */
  readonly payload?: PayloadMode
}

const KNOWN = new Set(['payload'])

/** @throws OptionTypeError */
export function validateGetOptions(options: unknown = {}): PayloadMode {
  checkKnown('get', options, KNOWN)
  return payloadOption(options['payload'])
}

export function payloadOption(value: unknown = 'full'): PayloadMode {
  return choiceOption('payload', value, PAYLOAD_MODES)
}

/**
 * Returns the bytes to ask the engine for; undefined for whole payloads.
 *
 * @param encoded true if a codec has encoded the payloads: a part of one cannot be decoded
 */
export function payloadBytesOf(mode: PayloadMode, of: 'one' | 'list', encoded: boolean): number | undefined {
  if (mode === 'full') return undefined
  if (mode === 'none') return 0
  if (of === 'one') return encoded ? undefined : LIMITS.previewOneBytes
  return encoded ? LIMITS.previewEncodedBytes : LIMITS.previewBytes
}
