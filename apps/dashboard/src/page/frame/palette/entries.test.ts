import { expect, test } from 'vitest'
import { entriesOf } from './entries.ts'

const run = () => {}
const KNOWN = {
  commands: [{ label: 'Theme: Dark', run }],
  screens: [
    { path: '/', title: 'Overview' },
    { path: '/jobs', title: 'Jobs' },
    { path: '/queues', title: 'Queues' },
  ],
  queues: ['billing', 'mail', 'bulk-mail'],
  names: [
    { queue: 'billing', name: 'charge' },
    { queue: 'mail', name: 'send-welcome' },
  ],
}
const labels = (typed: string) => entriesOf(typed, KNOWN).map(({ label }) => label)

test('without a text: screens first', () => {
  expect(labels('').slice(0, 3)).toEqual(['Overview', 'Jobs', 'Queues'])
})

test('any text can be searched for; what begins with it comes next', () => {
  expect(labels('mail')).toEqual(['Search jobs for “mail”', 'mail', 'mail / send-welcome', 'bulk-mail'])
  expect(entriesOf(' acme corp ', KNOWN)).toEqual([{ kind: 'Jobs', label: 'Search jobs for “acme corp”', to: '/jobs?q=acme+corp' }])
})

test('an id leads to its job, in any case', () => {
  const [entry] = entriesOf('01A20941-7c60-7000-8000-0127d5b9b95e', KNOWN)
  expect(entry?.to).toBe('/jobs/01a20941-7c60-7000-8000-0127d5b9b95e')
})

test('a short id, as every row shows it, leads to its job', () => {
  expect(entriesOf(' EC81-173682 ', KNOWN)[0]?.to).toBe('/jobs/ec81-173682')
  for (const other of ['ec81-17368', 'order-7718']) expect(entriesOf(other, KNOWN)[0]?.to).toBe(`/jobs?q=${other}`)
})

test('queues, names and commands are found', () => {
  expect(entriesOf('charge', KNOWN)[1]?.to).toBe('/jobs?q=queue%3Abilling+name%3Acharge')
  expect(entriesOf('billing', KNOWN)[1]?.to).toBe('/queues/billing')
  expect(entriesOf('dark', KNOWN)[1]?.to).toBe(run)
})

test('a thousand names are a dozen entries', () => {
  const names = Array.from({ length: 1_000 }, (_, number) => ({ queue: 'q', name: `name-${number}` }))
  expect(entriesOf('name', { ...KNOWN, names })).toHaveLength(12)
})
