// apps/examples/privacy, as its README says to run it, and its codec by itself.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aesGcm } from '../../apps/examples/privacy/aesGcm.ts'
import { temporaryFolder } from '../temporary.ts'
import { perform } from './perform.ts'

test('encrypts, changes keys, hides addresses, erases', async () => {
  const program = perform('privacy/main.ts', [], { EXAMPLE_FOLDER: temporaryFolder() })
  for (const line of [
    /^sent to ada@example\.org$/,
    /^<address> is full$/,
    /^writing to <address>$/,
    /^\{ matched: 1, changed: 1, skipped: \{\} \}$/,
    /^0 left$/,
    /^nothing to read$/,
  ])
    await program.said(line)
  expect(await program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace error: job 'mail' failed/) })
})

test('what it encodes comes back, under whichever key it was, and is not the same twice', () => {
  const keys = { a: randomBytes(32), b: randomBytes(32) }
  const old = aesGcm({ current: 'a', keys })
  const rotated = aesGcm({ current: 'b', keys })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (plain) => {
      const encoded = old.encode(plain)
      expect(Buffer.compare(rotated.decode(encoded), plain)).toBe(0)
      expect(Buffer.compare(rotated.decode(rotated.encode(plain)), plain)).toBe(0)
      expect(Buffer.compare(old.encode(plain), encoded)).not.toBe(0)
    }),
  )
})

test('what was changed, cut, or is of a key that is gone, is refused', () => {
  const keys = { a: randomBytes(32), b: randomBytes(32) }
  const codec = aesGcm({ current: 'a', keys })
  const encoded = Buffer.from(codec.encode(Buffer.from('secret')))
  for (let at = 0; at < encoded.length; at++) {
    const changed = Buffer.from(encoded)
    changed[at] = (changed[at] as number) ^ 1
    expect(() => codec.decode(changed), `byte ${at}`).toThrow()
    expect(() => codec.decode(encoded.subarray(0, at)), `cut at ${at}`).toThrow()
  }
  expect(() => aesGcm({ current: 'b', keys: { b: keys.b } }).decode(encoded)).toThrow("there is no key 'a'")
})
