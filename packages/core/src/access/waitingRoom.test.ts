import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WaitingRoom } from './waitingRoom.ts'

function start(places: number) {
  const room = new WaitingRoom(places)
  const sent: string[] = []
  const enter = (who: string, address: string | undefined = who[0]) => room.enter(address, () => sent.push(who))
  return { room, sent, enter }
}

test('one address that has all places makes room for another, its oldest first', () => {
  const { sent, enter } = start(3)
  for (const who of ['a1', 'a2', 'a3']) expect(enter(who)).toBeDefined()
  expect(enter('a4')).toBeUndefined()
  expect(enter('b1')).toBeDefined()
  expect(sent).toEqual(['a1'])
  // Two and one: another of b would make it one and two.
  expect(enter('b2')).toBeUndefined()
  expect(enter('c1')).toBeDefined()
  expect(sent).toEqual(['a1', 'a2'])
  expect(enter('d1')).toBeUndefined()
})

test('to leave counts once, also for who was sent away', () => {
  const { sent, enter } = start(2)
  const first = enter('a1')
  enter('a2')
  const other = enter('b1')
  expect(sent).toEqual(['a1'])
  first?.()
  expect(enter('c1')).toBeUndefined()
  other?.()
  other?.()
  expect(enter('c1')).toBeDefined()
  expect(enter('d1')).toBeUndefined()
})

test('to crowd out sends away the longest waiting of the address that has the most, also for one of that address', () => {
  const { room, sent, enter } = start(Number.POSITIVE_INFINITY)
  for (const who of ['b1', 'a1', 'a2', 'a3']) enter(who)
  expect([room.crowdOut(), room.crowdOut()]).toEqual([true, true])
  expect(sent).toEqual(['a1', 'a2'])
  // One each: whoever came first.
  expect([room.crowdOut(), room.crowdOut(), room.crowdOut()]).toEqual([true, true, false])
  expect(sent).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('those who cannot be told apart send nobody away', () => {
  const room = new WaitingRoom(1)
  const gone: string[] = []
  expect(room.enter(undefined, () => gone.push('first'))).toBeDefined()
  expect(room.enter(undefined, () => gone.push('second'))).toBeUndefined()
  expect(gone).toEqual([])
})

test('whatever comes: never more than the places, and an address that has none gets one while another has two', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.boolean())), (places, steps) => {
      const room = new WaitingRoom(places)
      const inside: { address: string; leave: () => void }[] = []
      for (const [address, leaves] of steps) {
        const mine = inside.filter((one) => one.address === address)
        if (leaves) {
          mine[0]?.leave()
          if (mine[0] !== undefined) inside.splice(inside.indexOf(mine[0]), 1)
          continue
        }
        const place = { address, leave: () => {} }
        const overfilled = ['a', 'b', 'c', 'd'].some((other) => inside.filter((one) => one.address === other).length > mine.length + 1)
        const wanted = inside.length < places || overfilled
        const leave = room.enter(address, () => inside.splice(inside.indexOf(place), 1))
        expect(leave !== undefined).toBe(wanted)
        if (leave === undefined) continue
        place.leave = leave
        inside.push(place)
        expect(inside.length).toBeLessThanOrEqual(places)
      }
    }),
  )
})
