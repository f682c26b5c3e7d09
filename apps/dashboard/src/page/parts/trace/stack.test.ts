import { expect, test } from 'vitest'
import { shortened, stackOf } from './stack.ts'

const STACK = `PaymentDeclined: card declined
of two lines
    at charge (file:///srv/billing/charge.ts:41:11)
    at async handler (/srv/billing/jobs.ts:18:3)
    at async execute (/srv/node_modules/@millrace/worker/dist/execute.js:88:20)
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21)
    at async run (/srv/node_modules/@millrace/worker/dist/run.js:12:5)`

test('a stack is its frames, those of libraries apart', () => {
  const lines = stackOf(STACK)
  expect(lines.map(({ isOwn }) => isOwn)).toEqual([true, true, false, false, false])
  expect(lines[0]?.text).toBe('  at charge (/srv/billing/charge.ts:41:11)')
})

test('frames of libraries at the end are left out, but for one', () => {
  const { shown, hidden } = shortened(stackOf(STACK))
  expect([shown.length, hidden.length]).toEqual([3, 2])
})

test('an error without frames of its own shows what caused it', () => {
  const failed = `TypeError: fetch failed
[cause]: Error: connect ECONNREFUSED 127.0.0.1:7499
    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:2021:16)
[code]: ECONNREFUSED`
  expect(stackOf(failed)).toEqual([
    { text: '  [cause]: Error: connect ECONNREFUSED 127.0.0.1:7499', isOwn: true, isProperty: true },
    { text: '  at TCPConnectWrap.afterConnect [as oncomplete] (node:net:2021:16)', isOwn: false },
    { text: '  [code]: ECONNREFUSED', isOwn: true, isProperty: true },
  ])
})

test('a stack of another language is shown as it is, without its message', () => {
  const traceback = 'ValueError: no\n  File "job.py", line 3, in run\n    raise ValueError("no")'
  expect(stackOf(traceback)).toEqual([
    { text: '  File "job.py", line 3, in run', isOwn: true },
    { text: '    raise ValueError("no")', isOwn: true },
  ])
})

test('an error without a stack has no lines', () => {
  expect(stackOf(undefined)).toEqual([])
  expect(shortened([])).toEqual({ shown: [], hidden: [] })
})
