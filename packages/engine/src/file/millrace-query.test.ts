// A queue that is emptied and deleted between a page and the names of its lanes.
import { join } from 'node:path'
import { DIRTY_DELETE } from '@millrace/core/kernel'
import { expect, test, vi } from 'vitest'
import { openStore } from '../../../sqlite/src/open-store.ts'
import { storeOptions, temporaryFolder } from '../../../sqlite/src/testing/files.ts'
import { Turns } from '../../../sqlite/src/testing/jobs.ts'

const world = vi.hoisted(() => ({ file: '', beforeNames: () => {} }))
vi.mock('piscina', () => ({ workerData: world }))
vi.mock('@millrace/sqlite', async (original) => {
  const all = await original<typeof import('@millrace/sqlite')>()
  const openReader = (file: string) => {
    const reader = all.openReader(file)
    const load = () => {
      world.beforeNames()
      return reader.load()
    }
    return { ...reader, load }
  }
  return { ...all, openReader }
})

test('its jobs are left out of a list', async () => {
  const store = openStore(storeOptions(join(temporaryFolder(), 'a.db'), { ballastBytes: 4_096 }))
  const turns = new Turns(store)
  const job = turns.insert({ lane: turns.lane('w', 'going') })
  turns.commit()
  world.file = store.file
  world.beforeNames = () => {
    world.beforeNames = () => {}
    job.dirty = 0
    turns.effects.count(job.lane, job.state, -1)
    turns.effects.touch(job, DIRTY_DELETE)
    turns.effects.queuesGone.push(job.lane.queue)
    turns.commit()
  }
  const { page } = await import('./millrace-query.ts')
  expect(page({ op: 'list', filter: {}, limit: 5 })).toEqual({ jobs: [], next: null })
  store.close()
})
