/** The payloads of a job as callers see them: whole, previewed or left out. */
import { type Data, decodeData, type JobView, PAYLOADS, type PayloadMode, type PayloadName, utf8Bytes, utf8Start } from '@millrace/core'
import type { PayloadCodec } from './payloadCodec.ts'

/** The beginning of a payload, as `payload: 'preview'` shows it. */
export interface PayloadPreview {
  /** The size of the whole payload as it is stored, in bytes. */
  readonly bytes: number
  /** The beginning of the JSON, or of the bytes. Undefined if a codec cannot decode the payload, or if it is too large to decode for a list. */
  readonly start: string | Uint8Array | undefined
  /** True if `start` is not all of it. */
  readonly cut: boolean
}

/** The beginnings of the payloads that a job has. */
export type PayloadPreviews = { readonly [Name in PayloadName]?: PayloadPreview }

export interface Payloads {
  readonly data: unknown
  readonly output: unknown
  readonly checkpoint: unknown
  readonly undecoded?: readonly PayloadName[]
  readonly preview?: PayloadPreviews
}

/** The request of a reading. */
export interface Shown {
  readonly payload: PayloadMode
  /** The most bytes of each preview. */
  readonly previewBytes: number
}

export const WHOLE: Shown = { payload: 'full', previewBytes: 0 }

const NONE = { data: undefined, output: undefined, checkpoint: undefined }

export function payloadsOf(view: JobView, codec: PayloadCodec | undefined, { payload, previewBytes }: Shown): Payloads {
  if (payload === 'none') return NONE
  return payload === 'preview' ? { ...NONE, ...previewsOf(view, codec, previewBytes) } : wholeOf(view, codec)
}

function wholeOf(view: JobView, codec: PayloadCodec | undefined): Payloads {
  const undecoded: PayloadName[] = []
  // One corrupt job does not hide the others.
  const opened = (name: PayloadName): unknown => {
    try {
      return decodeData(codec === undefined ? view[name] : codec.decode(name, view[name]))
    } catch {
      undecoded.push(name)
      return view[name]
    }
  }
  const whole = { data: opened('data'), output: opened('output'), checkpoint: opened('checkpoint') }
  return undecoded.length === 0 ? whole : { ...whole, undecoded }
}

function previewsOf(
  view: JobView,
  codec: PayloadCodec | undefined,
  bytesMax: number,
): { readonly preview: PayloadPreviews; readonly undecoded?: readonly PayloadName[] } {
  const undecoded: PayloadName[] = []
  const previews = PAYLOADS.flatMap((name): [PayloadName, PayloadPreview][] => {
    const stored = view[name]
    const bytes = view.bytes === undefined ? sizeOf(stored) : view.bytes[name]
    if (stored === null || bytes === null) return []
    const isPart = sizeOf(stored) < bytes
    try {
      const plain = codec === undefined ? stored : decodedPart(codec, name, stored, isPart)
      const start = plain === undefined ? undefined : startOf(plain, bytesMax)
      return [[name, { bytes, start, cut: isPart || start?.length !== plain?.length }]]
    } catch {
      undecoded.push(name)
      return [[name, { bytes, start: undefined, cut: true }]]
    }
  })
  const preview: PayloadPreviews = Object.fromEntries(previews)
  return undecoded.length === 0 ? { preview } : { preview, undecoded }
}

/** Returns undefined for a part of what a codec has encoded: it can be decoded only whole. A string was stored without a codec. */
function decodedPart(codec: PayloadCodec, name: PayloadName, stored: NonNullable<Data>, isPart: boolean): Data | undefined {
  return isPart && typeof stored !== 'string' ? undefined : codec.decode(name, stored)
}

function startOf(plain: Data, bytesMax: number): string | Uint8Array | undefined {
  if (plain === null) return undefined
  return typeof plain === 'string' ? utf8Start(plain, bytesMax) : plain.slice(0, bytesMax)
}

function sizeOf(stored: Data): number {
  return typeof stored === 'string' ? utf8Bytes(stored) : (stored?.length ?? 0)
}
