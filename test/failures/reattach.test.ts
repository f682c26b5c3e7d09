// What crosses on its way: a worker that names its runs again loses none of them, and runs none twice.
import { Engine } from '@millrace/client'
import { LIMITS, type Port, type Request } from '@millrace/core'
import { defineJob } from '@millrace/engine'
import { quiet } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { gate } from '../gate.ts'
import { startFaulty } from './faulty.ts'

const a = defineJob({ name: 'a' })

/** A Port whose requests are on their way until they are let through. */
function slowPort(port: Port) {
  const onTheWay: (readonly Request[])[] = []
  const slow: Port = { ...port, send: (requests) => void onTheWay.push(requests) }
  const letThrough = async () => {
    for (const requests of onTheWay.splice(0)) port.send(requests)
    await quiet()
  }
  return { slow, letThrough }
}

test('a reload that is told before the answer to an attach asks for no second one, which would miss grants on their way', async () => {
  const { inThread, clock, faults, probe, advance } = startFaulty()
  const { slow, letThrough } = slowPort(inThread.port())
  const engine = new Engine(slow, { maxDataBytes: LIMITS.dataBytes, clock, host: 'test', pid: 1, local: true })
  const held = gate()
  engine.work([a.handler(held.wait)])
  await quiet()
  faults.fail({ kind: 'busy' }, { times: 3 })
  await letThrough()
  await advance('1s')
  const id = await probe.enqueue('a')
  await quiet()
  expect(held.runs).toBe(1)
  await letThrough()
  await advance('1s')
  expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({ state: 'active', run: 1 })
  held.open()
  await quiet()
  await letThrough()
  expect(await probe.call<'get'>({ op: 'get', id })).toMatchObject({ state: 'completed', run: 1 })
  expect(held.runs).toBe(1)
})
