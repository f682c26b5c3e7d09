// Lists that come by a connection: readers answer them, and all else goes to the writer as before.
import { ACTIVE, type Command, type Delivery, type Port, type PortListener, type Refusal, type Request } from '@millrace/core'
import { expect, test } from 'vitest'
import { ReadingPort, type SessionChange, sortOut } from './readRouter.ts'

const EMPTY: Delivery = { replies: [], grants: [], notices: [], events: [], renewal: 0 }
const PAGE = { jobs: [], next: null }
const list = (filter: object = {}, search?: string): Command => ({ op: 'list', filter, limit: 1, ...(search !== undefined && { search }) })

function open(page: () => Promise<typeof PAGE>) {
  const sent: Request[] = []
  const [delivered, ended]: [Delivery[], Refusal[]] = [[], []]
  let below: PortListener | undefined
  const port: Port = {
    capabilities: new Set(['list']),
    maxDataBytes: 7,
    listen: (listener) => {
      below = listener
    },
    send: (requests) => sent.push(...requests),
    hold: () => {},
    close: async () => {},
  }
  const reading = new ReadingPort(port, { page })
  reading.listen({
    deliver: (delivery) => delivered.push(delivery),
    broken: () => {},
    reopened: () => {},
    lapsed: () => {},
    ended: (refusal) => ended.push(refusal),
  })
  return { reading, sent, delivered, ended, below: below as unknown as PortListener }
}

test('lists go to readers, but for those of runs, which the writer knows; the rest goes on in order', async () => {
  const { reading, sent, delivered, below } = open(async () => PAGE)
  const history = { op: 'history', queue: 'q', step: 'hour', from: 0 } as const
  const commands = [
    { op: 'stats' } as const,
    list(),
    list({ state: ACTIVE }),
    list({ state: ACTIVE }, 'ada'),
    { op: 'workers' } as const,
    history,
    { ...history, busiest: 0 },
  ]
  reading.send(commands.map((command, index) => ({ id: index, command })))
  expect(sent.map(({ id }) => id)).toEqual([0, 2, 4, 5])
  // A lease lives by what deliveries name: none takes back what the writer has counted.
  below.deliver({ ...EMPTY, renewal: 5 })
  await Promise.resolve()
  await Promise.resolve()
  expect(delivered).toEqual([
    { ...EMPTY, renewal: 5 },
    { ...EMPTY, renewal: 5, replies: [{ id: 1, value: PAGE }] },
    { ...EMPTY, renewal: 5, replies: [{ id: 3, value: PAGE }] },
    { ...EMPTY, renewal: 5, replies: [{ id: 6, value: PAGE }] },
  ])
  expect([reading.maxDataBytes, reading.capabilities.has('list')]).toEqual([7, true])
})

test('each request of a batch is looked at once, and a batch without rare ones goes on as it is', () => {
  let looks = 0
  const request = (command: Command): Request => ({
    id: 1,
    get command() {
      looks++
      return command
    },
  })
  const changes: SessionChange[] = []
  const rare = { readers: { page: async () => PAGE }, answer: () => {}, noteSession: (change: SessionChange) => void changes.push(change) }
  const usual = [request({ op: 'stats' }), request({ op: 'workers' })]
  expect(sortOut(usual, rare)).toBe(usual)
  expect(looks).toBe(2)
  const leave = { op: 'leave', session: 's' } as const
  const mixed = [request({ op: 'stats' }), request(list()), request(leave), request({ op: 'workers' })]
  expect(sortOut(mixed, rare)).toEqual([mixed[0], mixed[2], mixed[3]])
  expect(changes).toEqual([leave])
  expect(sortOut(mixed, { ...rare, readers: undefined })).toBe(mixed)
})

test('what cannot be read is refused', async () => {
  const { reading, delivered } = open(() => Promise.reject(new Error('no thread')))
  reading.send([{ id: 1, command: list() }])
  await Promise.resolve()
  await Promise.resolve()
  expect(delivered[0]?.replies).toEqual([{ id: 1, refusal: { code: 'STORAGE', message: 'the page could not be read: no thread' } }])
})

test.each(['ended', 'closed'] as const)('a Port that is over (%s) hears of no list any more', async (how) => {
  const { promise, resolve } = Promise.withResolvers<typeof PAGE>()
  const { reading, delivered, ended, below } = open(() => promise)
  reading.send([{ id: 1, command: list() }])
  if (how === 'closed') await reading.close()
  else below.ended({ code: 'ENGINE_STOPPED', message: 'over' })
  resolve(PAGE)
  await promise
  await Promise.resolve()
  expect(delivered).toEqual([])
  expect(ended).toHaveLength(how === 'ended' ? 1 : 0)
})
