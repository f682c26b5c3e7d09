// docs/workflows.md: its saga runs by a clock of its own, and does what the page says of it.
import { expect, test } from 'vitest'
import { runSnippets } from './snippets.ts'

/** What the page leaves to its reader. */
const GIVEN = `
import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
const { engine, clock, drain } = createTestEngine({ logger: { debug() {}, info() {}, warn() {}, error() {} } })
const calls: string[] = []
let hasMoney = false
const reserve = (seats: number) => { calls.push('reserve'); return 'A' + seats }
const release = (seat: string) => { calls.push('release ' + seat) }
const sendTicket = (seat: string) => { calls.push('send'); return 'ticket for ' + seat }
const charge = (card: string, { idempotencyKey }: { idempotencyKey: string }) => {
  calls.push('charge ' + idempotencyKey.slice(idempotencyKey.indexOf(':')))
  if (card === 'empty' && !hasMoney) throw new Error('no money')
}
`

/** Before the page looks at the job. */
const BEGUN = `
const first = await engine.enqueue(order, { seats: 7, card: 'gold' })
await drain()
const { id } = first
`

const CHECKED = `
const seen = { steps: steps.map(({ number, name, kind, value }) => [number, name, kind, value ?? null]), waits: waits.map(({ name }) => name), messages, kept }
const state = async (of: string) => (await engine.get(of))?.state
const asleep = [await state(id), (await engine.explain(id))?.message.replace(/2\\d.*/, '…')]
await clock.advance('2d')
await drain()
const woken = [await first.result(), ...calls.splice(0)]
const second = await engine.enqueue(order, { seats: 1, card: 'empty' })
for (let attempt = 0; attempt < 5; attempt++) {
  await drain()
  await clock.advance('2h')
}
const failed = [await state(second.id), ...calls.splice(0)]
const refused = await engine.retry(second.id).catch(({ code }) => code)
hasMoney = true
await engine.retry(second.id, { from: 'charge' })
await drain()
const retried = [await state(second.id), ...calls.splice(0)]
console.log(JSON.stringify({ seen, next, asleep, woken, failed, refused, retried }))
await engine.stop()
`

test('the saga sleeps, resumes, undoes what it must, and is retried from a step', async () => {
  const look = 'const { steps, waits, messages, kept, next } ='
  const chosen = ['order.handler(async ({ data, step, sleep })', look]
  const ended = await runSnippets('docs/workflows.md', { given: GIVEN, after: CHECKED, instead: { [look]: `${BEGUN}${look}` } }, (code) =>
    chosen.some((part) => code.includes(part)),
  )
  expect(ended.code, ended.stderr).toBe(0)
  const charges = Array.from({ length: 5 }, () => 'charge :charge')
  expect(JSON.parse(ended.stdout)).toEqual({
    seen: {
      steps: [
        [1, 'reserve', 'step', 'A7'],
        [2, 'charge', 'step', null],
      ],
      waits: ['before-the-show'],
      messages: [],
      kept: 0,
    },
    asleep: ['scheduled', "waits, because its handler sleeps in 'before-the-show' until …"],
    woken: ['ticket for A7', 'reserve', 'charge :charge', 'send'],
    failed: ['failed', 'reserve', ...charges, 'release A1'],
    refused: 'AMBIGUOUS_RETRY',
    retried: ['scheduled', 'charge :charge'],
  })
})

const APPROVAL = `
import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'
const { engine, clock, drain } = createTestEngine({ logger: { debug() {}, info() {}, warn() {}, error() {} } })
const calls: string[] = []
const askForApproval = (amount: number) => { calls.push('ask ' + amount) }
const sendReminder = () => { calls.push('remind'); return 'reminded' }
const pay = (amount: number, { idempotencyKey }: { idempotencyKey: string }) => {
  calls.push('pay ' + amount + idempotencyKey.slice(idempotencyKey.indexOf(':')))
  return 'paid'
}
`

const SENT = `
const ended = [await (await engine.handle(id)).result()]
const refused = await engine.enqueue(expense, { amount: 7 }, { unique: { key: 'e-7' } })
await drain()
ended.push(await engine.send({ name: 'expense', uniqueKey: 'e-7' }, 'decided', { yes: false, by: 'bob' }), await refused.result())
const late = await engine.enqueue(expense, { amount: 9 })
await drain()
await clock.advance('3d')
ended.push(await late.result())
console.log(JSON.stringify({ ended, calls }))
await engine.stop()
`

test('the approval waits for a message, three days at most', async () => {
  const begins = 'await engine.send<typeof expense>(id,'
  const asked = `const { id } = await engine.enqueue(expense, { amount: 5 })\nawait drain()\n${begins}`
  const program = { given: APPROVAL, after: SENT, instead: { [begins]: asked } }
  const ended = await runSnippets('docs/workflows.md', program, (code) => code.includes('expense.handler('))
  expect(ended.code, ended.stderr).toBe(0)
  expect(JSON.parse(ended.stdout)).toEqual({
    ended: ['paid', 'taken', 'refused by bob', 'reminded'],
    calls: ['ask 5', 'pay 5:pay', 'ask 7', 'ask 9', 'remind'],
  })
})
