import { type Data, LIMITS } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { PayloadCodec } from './payloadCodec.ts'
import { payloadsOf } from './payloads.ts'
import { bareJob } from './testing/bareJob.ts'

const SHOWN = { payload: 'preview', previewBytes: 8 } as const

/** A codec that turns every byte over. */
const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 255)
const codec = new PayloadCodec({ encode: flip, decode: flip }, LIMITS.dataBytes)

function previewed(data: Data, bytes?: number, of?: PayloadCodec) {
  const sizes = bytes !== undefined && { bytes: { data: bytes, output: null, checkpoint: null } }
  return payloadsOf({ ...bareJob, data, ...sizes }, of, SHOWN)
}

test('a preview is the beginning of the JSON or of the bytes, and says whether that is all', () => {
  expect(previewed('[1,2,3]', 7)).toEqual({ preview: { data: { bytes: 7, start: '[1,2,3]', cut: false } } })
  expect(previewed('[1,2,3,4', 90).preview?.data).toEqual({ bytes: 90, start: '[1,2,3,4', cut: true })
  expect(previewed(new Uint8Array([1, 2]), 2).preview?.data).toEqual({ bytes: 2, start: new Uint8Array([1, 2]), cut: false })
  expect(previewed(null).preview).toEqual({})
})

test('an engine that does not cut sends whole payloads: they are cut here', () => {
  expect(previewed('"0123456789"').preview?.data).toEqual({ bytes: 12, start: '"0123456', cut: true })
  expect(previewed(new Uint8Array(9)).preview?.data).toEqual({ bytes: 9, start: new Uint8Array(8), cut: true })
  expect(payloadsOf({ ...bareJob, data: '1' }, undefined, { payload: 'none', previewBytes: 0 }).data).toBeUndefined()
})

describe('with a codec', () => {
  const encoded = (data: Data) => codec.encode('data', data) as Uint8Array

  test('what came whole is decoded, and then cut', () => {
    const short = encoded('[1]')
    expect(previewed(short, short.length, codec).preview?.data).toEqual({ bytes: 4, start: '[1]', cut: false })
    const long = encoded('"0123456789"')
    expect(previewed(long, long.length, codec).preview?.data).toEqual({ bytes: 13, start: '"0123456', cut: true })
  })

  test('of a part, only the size is known; what was stored without a codec is shown', () => {
    expect(previewed(encoded('"0123456789"').slice(0, 5), 13, codec).preview?.data).toEqual({ bytes: 13, start: undefined, cut: true })
    expect(previewed('"0123', 40, codec).preview?.data).toEqual({ bytes: 40, start: '"0123', cut: true })
  })

  test('what cannot be decoded is named', () => {
    const broken = new Uint8Array([7, 7])
    expect(previewed(broken, 2, codec)).toMatchObject({
      undecoded: ['data'],
      preview: { data: { bytes: 2, start: undefined, cut: true } },
    })
  })
})
