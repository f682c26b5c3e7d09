/** Tests the count of interrupted runs: those that ended because their worker stopped or was lost. */

import { expect, test } from 'vitest'
import type { JobKey } from '../../id.ts'
import { attaching, keyOfJob, World } from '../../testing/world.ts'

const RUN = { seq: 1, run: 1 }

const GIVE_BACK = { op: 'giveBack', ...RUN, started: true } as const

type Step = (world: World, job: JobKey) => unknown

test.each<[what: string, interrupted: number, ...ends: readonly Step[]]>([
  ['given back by a handler that had begun', 1, (world) => world.run(GIVE_BACK)],
  ['given back before its handler began', 0, (world) => world.giveBack(RUN)],
  ['held by a worker that leaves', 1, (world) => world.leave('s')],
  ['lost with its worker', 1, (world) => world.after(50)],
  ['lost with its process', 1, (world) => world.reload(), (world) => world.after(60_000)],
  ['never received by its worker', 0, (world) => world.reload('s'), (world) => world.run(attaching('s', ['a']))],
  ['given back twice', 1, (world) => world.run(GIVE_BACK), (world) => world.refusal(GIVE_BACK)],
  ['cancelled, and then given back', 0, (world, id) => world.cancel(id), (world) => world.run(GIVE_BACK)],
  ['cancelled, and then lost', 0, (world, id) => world.cancel(id), (world) => world.after(50)],
  ['completed', 0, (world) => world.complete(RUN)],
  ['failed', 0, (world) => world.fail(RUN)],
  ['snoozed', 0, (world) => world.snooze(RUN, 5)],
])('a run that is %s adds %i to the count of interrupted runs', (_what, interrupted, ...ends) => {
  const world = new World()
  world.attach('s', ['a'], { local: false, abortGrace: 0 })
  const job = keyOfJob(world.enqueue('a', { maxAttempts: 3, heartbeatTimeout: 50 }))
  world.enqueue('bystander')
  for (const end of ends) end(world, job)
  expect(world.interrupted).toEqual(Array(interrupted).fill('a'))
})
