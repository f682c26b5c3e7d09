// What an editor shows beside an option: a sentence, its default if it can be left out, and its range and unit if it is a number or a duration.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { interfacesOf } from './interfaces.ts'
import { ROOT, SOURCES, type Source } from './sources.ts'

interface Option {
  readonly path: string
  /** With the interface's name. */
  readonly name: string
  readonly optional: boolean
  readonly type: string
  readonly comment: string
}

const UNCHANGED = /left out stays as it is/i
const DEFAULT = /\bdefault/i
const RANGE = /\d.* to .*\d|at least|at most|up to|or more|less than|one of/is
const UNIT = /\d ?(?:ms|s|m|h)\b|\b(?:second|minute|hour|day|year)s?\b|milliseconds/i

/** The names behind each word of the lists that the roots export. */
function exported(path: string): string[] {
  return [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\b(\w+Options)\b/g)].map(([, name]) => name as string)
}

/** Named in an option of those that are exported. */
const WITHIN = ['KeepOptions', 'ThreadLimits', 'RunOptions', 'EventsFilter']
const OF_USERS = ['engine', 'remote', 'http', 'webhooks', 'exec', 'import', 'outbox', 'otel', 'nestjs', 'fastify', 'testkit']
const PUBLIC = new Set([
  ...['client/src/public.ts', ...OF_USERS.map((name) => `${name}/src/index.ts`)].flatMap((path) => exported(`packages/${path}`)),
  ...WITHIN,
])

function optionsOf(source: Source): Option[] {
  return interfacesOf(source)
    .filter(({ name }) => PUBLIC.has(name))
    .flatMap(({ path, name, comment: of, members }) =>
      members
        .filter(({ comment }) => !comment.startsWith('@internal'))
        .map(({ name: member, optional, type, comment }) => ({
          path,
          name: `${name}.${member}`,
          optional: optional && !UNCHANGED.test(of),
          type,
          comment,
        })),
    )
}

const OPTIONS = SOURCES.filter(
  ({ kind, testing, package: name }) => kind === 'packages' && !testing && ['core', 'client', 'worker', ...OF_USERS].includes(name),
).flatMap(optionsOf)

/** Of its own, not of what lies in it. */
const holds = (option: Option, word: RegExp) => word.test(option.type.replace(/\{[^}]*\}|\w+\[[^\]]*\]/g, ''))

const wrongOf = (option: Option): string[] => [
  ...(option.comment === '' ? ['no comment'] : []),
  ...(option.optional && !DEFAULT.test(option.comment) ? ['no default'] : []),
  ...(holds(option, /\b(?:number|Duration)\b/) && !RANGE.test(option.comment) ? ['no range'] : []),
  ...(holds(option, /\bDuration\b/) && !UNIT.test(option.comment) ? ['no unit'] : []),
]

/** The names in the lists that a root exports. */
function listed(path: string): string[] {
  const lists = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list)
  return lists.flatMap((list) => [...list.matchAll(/(\w+)\s*(?:,|$)/g)].map(([, name]) => name as string))
}

test('each name that users can import has a doc comment', () => {
  const names = new Set(
    ['client/src/public.ts', ...OF_USERS.map((name) => `${name}/src/index.ts`)].flatMap((path) => listed(`packages/${path}`)),
  )
  const declared = SOURCES.filter(
    ({ path, package: name }) => !/\.test\.ts$|\/testing\//.test(path) && ['core', 'client', 'worker', ...OF_USERS].includes(name),
  ).flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:abstract |async )*(?:interface|type|class|function|const) (\w+)/gm)]
      .filter(([, name]) => names.has(name as string))
      .map(({ 0: declaration, 1: name, index }) => ({ at: `${path}: ${declaration}`, name, before: text.slice(0, index).trimEnd() })),
  )
  expect(declared.length).toBeGreaterThan(300)
  const isOverload = ({ name, before }: (typeof declared)[number]) => new RegExp(`^export (?:async )?function ${name}\\b`, 'm').test(before)
  expect(declared.filter((one) => !one.before.endsWith('*/') && !isOverload(one)).map(({ at }) => at)).toEqual([])
})

test('the rule sees the options that are exported', () => {
  expect(new Set(OPTIONS.map(({ name }) => name.split('.')[0])).size).toBeGreaterThan(35)
  expect(wrongOf({ path: '', name: '', optional: true, type: 'Duration', comment: '' })).toEqual([
    'no comment',
    'no default',
    'no range',
    'no unit',
  ])
  expect(wrongOf({ path: '', name: '', optional: true, type: 'Duration', comment: 'At least 1 ms; default 5 m.' })).toEqual([])
})

test('each option says what it is, its default, and its range with a unit', () => {
  const wrong = OPTIONS.flatMap((option) => wrongOf(option).map((why) => `${option.path} ${option.name}: ${why}`))
  expect(wrong).toEqual([])
})

/** The first names that a user of each package calls. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  'packages/client/src/engine.ts': ['async enqueue<', 'async enqueueMany<Job', 'async flow<', 'work('],
  'packages/client/src/queues.ts': ['async configure('],
  'packages/client/src/schedules.ts': ['upsert<'],
  'packages/client/src/stopOnSignals.ts': ['export function stopOnSignals('],
  'packages/engine/src/open.ts': ['export async function openEngine(', 'export function attach('],
  'packages/exec/src/handlers.ts': ['export function execHandlers('],
  'packages/fastify/src/plugin.ts': ['export const millrace:'],
  'packages/http/src/createHttp.ts': ['export function createHttp('],
  'packages/import/src/importFrom.ts': ['export async function importFrom('],
  'packages/nestjs/src/health.ts': ['export async function engineHealth<'],
  'packages/nestjs/src/module.ts': ['static forRoot('],
  'packages/nestjs/src/processor.ts': ['export function Processor(', 'export function Handles<'],
  'packages/outbox/src/outbox.ts': ['export function outbox('],
  'packages/remote/src/client/connect.ts': ['export async function connect('],
  'packages/remote/src/server/listen.ts': ['export async function listen('],
  'packages/testkit/src/engine.ts': ['export function createTestEngine('],
  'packages/webhooks/src/deliver/handler.ts': ['export function webhookHandler('],
  'packages/worker/src/define.ts': ['export function defineJob<Schema'],
}

test.each(Object.entries(FIRST))('%s: the names that users call first have an example', (path, declarations) => {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const without = declarations.filter((declaration) => {
    const before = text.slice(0, text.indexOf(`\n${declaration.startsWith('export') ? '' : '  '}${declaration}`))
    const comment = before.trimEnd().endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : ''
    return !comment.includes('@example')
  })
  expect(without).toEqual([])
})
