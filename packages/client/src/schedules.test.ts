/** The job of a schedule is checked before anything is sent. */
import { expect, test } from 'vitest'
import { Mailbox } from './mailbox.ts'
import { Schedules } from './schedules.ts'
import { FakePort } from './testing/fakePort.ts'

test.each(['upsert', 'add'] as const)('%s refuses unknown keys of the job', async (call) => {
  const port = new FakePort()
  const schedules = new Schedules(new Mailbox(port), { maxDataBytes: 1_000 }, () => {
    throw new Error('no job is created here')
  })
  const set = (job: object) => schedules[call]('s', { every: '1h' }, job as { readonly job: string })
  await expect(set({ job: 'x', date: 5 })).rejects.toMatchObject({ code: 'OPTION_TYPE', option: 'date' })
  await expect(set({ job: 'x', date: 5 })).rejects.toThrow("job has no option 'date'; did you mean 'data'?")
  await expect(set({ job: 'x', priority: 1 })).rejects.toThrow("job has no option 'priority'; it accepts job, data, options")
  expect(port.posts).toEqual([])
})
