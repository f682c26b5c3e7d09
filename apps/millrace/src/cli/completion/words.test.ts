/** The last word of a command line: which names may stand there. */
import { FLOW_STATES, LIST_ORDERS, NAME_DETAILS, PURGED_STATES, STATES } from '@millrace/core'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { flagOf, SETTABLE } from '../../config/keys.ts'
import { SETTING_KEYS } from '../../config/settings.ts'
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
  ['token revoke ', 'token'],
  ['webhooks disable ', 'endpoint'],
  ['webhooks delete b', 'endpoint'],
  ['jobs list --error ', 'error'],
  ['jobs list --state ', STATES],
  ['jobs --state ', STATES],
  ['jobs cancel --state ', STATES],
  ['flows list --state ', FLOW_STATES],
  ['queues purge mail --state ', PURGED_STATES],
  ['jobs list --order ', LIST_ORDERS],
  ['queues set mail --on-full ', ['reject', 'drop-oldest']],
  ['queues set mail --key-order ', ['strict', 'turns']],
  ['stats --names ', NAME_DETAILS],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['config set ', SETTING_KEYS],
  ['config get ', SETTING_KEYS],
])('millrace %s', (line, kind) => {
  expect(slot(line)).toMatchObject({ kind, typed: line.split(' ').at(-1) })
})

test.each(['', 'queues ', 'queues show --', 'queues show mail ', 'enqueue mail ', 'keys mail ', 'jobs show ', 'nowhere ', '--file '])(
  'millrace %s: no name',
  (line) => {
    expect(slot(line)).toBeUndefined()
  },
)

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
  const isThere = (place: string) => places.includes(place) || places.includes(place.replace(/^\w+ (?=--)/, ''))
  expect(PLACES.filter((place) => !isThere(place))).toEqual([])
})

/** Flags whose help lists words, as `a, b or c`, or with a default. */
const LISTING = nodes.flatMap(({ path, flags }) =>
  flags
    .filter(({ takesValue, description }) => takesValue && /: [a-z-]+(?:, [a-z-]+)+ or [a-z-]+(?:;|$)/.test(description))
    .map((flag) => ({ path, ...flag })),
)

test.each(LISTING)('millrace $path $names: the words that its help lists are offered', ({ description, kind }) => {
  const listed = /: ([a-z-]+(?:, [a-z-]+)+ or [a-z-]+)(?:;|$)/.exec(description)?.[1]?.split(/, | or /) ?? []
  expect(new Set(kind)).toEqual(new Set(listed))
})

test('every flag of the settings is offered to the commands that take them, in each shell', async () => {
  const printed: string[] = []
  const program = createProgram({ out: { json: false, raw: async (text: string) => void printed.push(text) } } as unknown as Context)
  for (const shell of ['bash', 'zsh', 'fish']) await program.parseAsync(['completion', shell], { from: 'user' })
  for (const [index, script] of printed.entries())
    for (const key of [...SETTABLE.map(flagOf), '--config']) expect(script).toContain(index === 2 ? `-l ${key.slice(2)} ` : key)
  expect(printed).toHaveLength(3)
})
