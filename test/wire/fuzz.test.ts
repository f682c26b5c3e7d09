// A slice of what `node test/wire/main.ts --frames 10000000` does.
import { expect, test } from 'vitest'
import { runs } from '../../packages/testkit/src/testing/runs.ts'
import { fuzz } from './fuzz.ts'

const FRAMES = runs(150_000)

test('mutated frames are refused by WireError, or mean the same when they are sent on', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const { frames, accepted, refused } = fuzz(seed, FRAMES)
  expect(frames, `seed ${seed}`).toBe(FRAMES)
  // Both sides of every limit are looked at.
  expect(accepted).toBeGreaterThan(FRAMES / 100)
  expect(Object.keys(refused).toSorted()).toEqual(['BAD_FRAME', 'BAD_MESSAGE', 'FRAME_TOO_LARGE', 'request'])
})
