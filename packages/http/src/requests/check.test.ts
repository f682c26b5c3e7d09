import { LIMITS } from '@millrace/core'
import { expect, test } from 'vitest'
import { QUEUE_BODY } from '../schemas/queue.ts'
import { check } from './check.ts'

test.each([LIMITS.keyTiers, LIMITS.keyTiers + 1, 80_000])('%d tiers of keys: none is looked at if there are too many', (count) => {
  let looks = 0
  const tier = {
    get perKeyLimit() {
      looks++
      return 1
    },
  }
  const keyTiers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, tier]))
  const checking = () => check(QUEUE_BODY, { keyTiers }, 'body')
  if (count <= LIMITS.keyTiers) expect(Object.keys(checking().keyTiers ?? {})).toHaveLength(count)
  else expect(checking).toThrow('body.keyTiers must have at most 100 keys')
  expect(looks > 0).toBe(count <= LIMITS.keyTiers)
})
