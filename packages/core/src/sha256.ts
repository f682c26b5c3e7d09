/** SHA-256 (FIPS 180-4) without imports, for the keys of jobs. It guards no secret. */

const BLOCK = 64
const ROUNDS = 64
const LENGTH_BYTES = 8

const START = Int32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19)

const CONSTANTS = Int32Array.of(
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2,
)

/** Returns the hash in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  const padded = new Uint8Array(Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK) * BLOCK)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - LENGTH_BYTES, BigInt(bytes.length) * 8n)
  const state = START.slice()
  const words = new Int32Array(ROUNDS)
  for (let at = 0; at < padded.length; at += BLOCK) {
    expand(words, view, at)
    mix(state, words)
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function expand(words: Int32Array, view: DataView, at: number): void {
  for (let index = 0; index < 16; index++) words[index] = view.getInt32(at + index * 4)
  for (let index = 16; index < ROUNDS; index++) {
    const early = of(words, index - 15)
    const late = of(words, index - 2)
    const low = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)
    const high = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10)
    words[index] = (of(words, index - 16) + low + of(words, index - 7) + high) | 0
  }
}

function mix(state: Int32Array, words: Int32Array): void {
  let a = of(state, 0)
  let b = of(state, 1)
  let c = of(state, 2)
  let d = of(state, 3)
  let e = of(state, 4)
  let f = of(state, 5)
  let g = of(state, 6)
  let h = of(state, 7)
  for (let round = 0; round < ROUNDS; round++) {
    const chosen = (e & f) ^ (~e & g)
    const first = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + chosen + of(CONSTANTS, round) + of(words, round)) | 0
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const second = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  state.set([a, b, c, d, e, f, g, h].map((value, index) => of(state, index) + value))
}

function of(words: Int32Array, index: number): number {
  return words[index] as number
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}
