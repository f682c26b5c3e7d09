import { expect, test } from 'vitest'
import { Together } from './together.ts'

test('who joins before the loop goes on acts in one tick; who comes later, in a later one', async () => {
  const together = new Together()
  const acted: [who: string, tick: number][] = []
  let tick = 0
  const act = async (who: string) => {
    await together.join()
    // Behind all microtasks of this callback, and before the next one.
    process.nextTick(() => tick++)
    acted.push([who, tick])
  }
  const first = act('a')
  await Promise.resolve()
  const second = act('b')
  await new Promise<void>((resolve) => process.nextTick(resolve))
  const third = act('c')
  await Promise.all([first, second, third])
  await act('d')
  expect(acted.slice(0, 3)).toEqual([
    ['a', 0],
    ['b', 0],
    ['c', 0],
  ])
  expect(acted[3]?.[1]).toBe(3)
})
