/** The last word of a command line: which names may stand there. */
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import type { Context } from '../context.ts'
import { createProgram } from '../program.ts'
import { PLACES } from './kinds.ts'
import { nodesOf } from './tree.ts'
import { slotOf } from './words.ts'

const program = createProgram({ out: {} } as Context)
const nodes = nodesOf(program)
const slot = (line: string) => slotOf(nodes, line.split(' '))

test.each([
  ['queues show ', 'queue'],
  ['queues set ma', 'queue'],
  ['enqueue ', 'job'],
  ['--json enqueue --queue bulk ', 'job'],
  ['jobs list --queue ', 'queue'],
  ['jobs --queue ', 'queue'],
  ['jobs list --name ', 'job'],
  ['jobs list --schedule ', 'schedule'],
  ['jobs list --worker ', 'worker'],
  ['schedules set nightly ', 'job'],
  ['schedules delete ni', 'schedule'],
  ['workers stop one two ', 'worker'],
  ['worker stop ', 'process'],
  ['keys ', 'job'],
  ['keys show ', 'job'],
  ['config set --queue ', 'queue'],
  ['queues set mail --dead-letter ', 'queue'],
])('millrace %s', (line, kind) => {
  expect(slot(line)).toMatchObject({ kind, typed: line.split(' ').at(-1) })
})

test.each([
  '',
  'queues ',
  'queues show --',
  'queues show mail ',
  'enqueue mail ',
  'keys mail ',
  'stats --names ',
  'jobs list --state ',
  'jobs show ',
  'nowhere ',
  'completion ',
  '--file ',
])('millrace %s: no name', (line) => {
  expect(slot(line)).toBeUndefined()
})

test('the last of several names; the flags of the engine, wherever they are', () => {
  expect(slot('worker start --queues mail,bu')).toEqual({ kind: 'queue', before: 'mail,', typed: 'bu', target: {} })
  expect(slot('jobs list --queue a,b')).toMatchObject({ before: '', typed: 'a,b' })
  const target = { file: 'a.db', token: 't', url: 'tcp://h:1' }
  expect(slot('--file a.db queues --token t show --url=tcp://h:1 ')).toEqual({ kind: 'queue', before: '', typed: '', target })
})

test('each row of the tables is about a flag or an argument that is there', () => {
  const commandsOf = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commandsOf)]
  const places = commandsOf(program).flatMap((command) => [
    ...command.options.map(({ flags }) => flags.replace(/^-\w, /, '')),
    ...command.registeredArguments.flatMap((each) =>
      [command, command.parent].flatMap((of) => (of === null ? [] : [`${of.name()} ${each.name()}`])),
    ),
  ])
  expect(PLACES.filter((place) => !places.includes(place))).toEqual([])
})
