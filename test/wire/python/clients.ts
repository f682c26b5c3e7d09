/**
 * Writes the two clients of Python from one list of calls: a function with words of its own in `operations.py`, `changes.py` and
 * `queues.py` becomes a method of both, and what it returns says how it is asked.
 */
import { GROUPS } from './options.ts'
import { GENERATED } from './schema.ts'
import { withBounds, wrapped } from './words.ts'

interface Call {
  readonly module: string
  readonly name: string
  /** As they stand between the parentheses. */
  readonly parameters: string
  readonly returns: string
  readonly doc: string
}

const FUNCTION = /^def ([a-z]\w*)\(([\s\S]*?)\) -> (\w+)\[(.*)\]:\n {4}("""[\s\S]*?""")\n/gm

export function callsOf(module: string, text: string): readonly Call[] {
  return [...text.matchAll(FUNCTION)].map(([, name = '', parameters = '', kind = '', type = '', doc = '']) => ({
    module,
    name,
    parameters: parameters
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .replace(/,$/, ''),
    returns: `${kind}[${type}]`,
    doc,
  }))
}

/** For each kind of request the method that asks it, and whether its answer is iterated over. */
const KINDS: Readonly<Record<string, { readonly by: string; readonly iterates?: true }>> = {
  Request: { by: '_ask' },
  Patient: { by: '_ask' },
  Steps: { by: '_drive' },
  Pages: { by: '_list', iterates: true },
  Feed: { by: '_list', iterates: true },
}

/** Settings stay a group: there are many, and more to come. */
const GROUP = /^\*\*\w+: Unpack\[(\w+)\]$/
const WHOLE = new Set(['JobOptions', 'OtherFilters', 'QueueSettings'])

/** The parameters of a method: it names the options of most groups. */
function spelledOut(parameters: readonly string[]): string[] {
  return parameters.flatMap((parameter) => {
    const group = GROUP.exec(parameter)?.[1]
    if (group === undefined || WHOLE.has(group)) return [parameter]
    return [
      ...(parameters.includes('*') ? [] : ['*']),
      ...(GROUPS[group] ?? []).map(({ name, type, preset }) => `${name}: ${type} = ${preset}`),
    ]
  })
}

const CHECKED = 'OPTION_TYPE, OPTION_RANGE'

/** Adds the errors of a wrong argument to the words of a method that has any. */
function withErrors(words: string, parameters: readonly string[]): string {
  if (parameters.length === 0 || words.includes('OPTION_') || /\berrors: as of /.test(words)) return words
  if (words.includes('Raises Error (')) return words.replace(/Raises Error \(([^();]*)/, `Raises Error ($1, ${CHECKED}`)
  const byName = parameters.some((parameter) => WHOLE.has(GROUP.exec(parameter)?.[1] ?? '')) ? 'TypeError, ' : ''
  return `${words}${words.endsWith('}') ? '\n\n' : ' '}Raises ${byName}Error (${CHECKED}).`
}

/** The words of a method: a line for each option of a group that they name, the bounds of the tables, and the errors of an argument. */
function spelled(doc: string, parameters: readonly string[]): string {
  const words = doc
    .slice(3, -3)
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim().replaceAll(/\s+/g, ' '))
  const paragraphs = withErrors(words.join('\n\n'), parameters).split('\n\n')
  const lines = paragraphs.map((paragraph) => {
    const group = /^\{(\w+)\}$/.exec(paragraph)?.[1] ?? ''
    const options = GROUPS[group]
    if (options === undefined) return wrapped(withBounds(paragraph), '    ')
    return options.flatMap(({ doc: line }) => (line === '' ? [] : [wrapped(line, '    ')])).join('\n')
  })
  return `"""${lines.join('\n\n').trimStart()}"""`
}

/** Splits at the commas outside of brackets. */
function parametersOf(text: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const letter of text) {
    depth += '[('.includes(letter) ? 1 : '])'.includes(letter) ? -1 : 0
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** The arguments that pass the parameters on, those behind an asterisk by name. */
function argumentsOf(parameters: readonly string[]): string {
  const star = parameters.indexOf('*')
  return parameters
    .flatMap((parameter, place) => {
      const name = /^\**\w+/.exec(parameter)?.[0] ?? ''
      return parameter === '*' ? [] : [star >= 0 && place > star && !name.startsWith('*') ? `${name}=${name}` : name]
    })
    .join(', ')
}

/** Parameters in as few lines as they fit on, each in one line. */
function filled(parts: readonly string[]): string {
  const whole = parts.map((part) => part.replaceAll(' ', '\u00a0')).join(', ')
  return wrapped(parts.at(-1)?.startsWith('**') ? whole : `${whole},`, '        ').replaceAll('\u00a0', ' ')
}

function methodOf({ module, name, parameters, returns, doc }: Call, isAsync: boolean): string {
  const [, kind = '', type = ''] = /^(\w+)\[(.*)\]$/.exec(returns) ?? []
  const { by, iterates } = KINDS[kind] as { by: string; iterates?: true }
  const parts = ['self', ...spelledOut(parametersOf(parameters))]
  const awaits = isAsync && iterates === undefined
  const result = iterates === undefined ? type : `${isAsync ? 'Async' : ''}Iterator[${type}]`
  const head = `    ${awaits ? 'async ' : ''}def ${name}(`
  const flat = `${head}${parts.join(', ')}) -> ${result}:`
  const signature = flat.length <= 140 ? flat : `${head}\n${filled(parts)}\n    ) -> ${result}:`
  const passed = argumentsOf(parts.slice(1))
  const asked = `${awaits ? 'await ' : ''}self.${by}(${module}.${name}${passed === '' ? '' : `, ${passed}`})`
  return `${signature}\n        ${spelled(doc, parametersOf(parameters)).replaceAll('\n    ', '\n        ')}\n        return ${asked}\n`
}

const CLASS_DOCS = {
  sync: `Puts jobs in and asks about them. Threads may share one. A call that a break leaves without its answer raises ConnectionLost;
    the next call connects again. \`url\`, \`token\` and \`timeout\` are as of \`connect\`.`,
  async: `The methods of \`Client\` as coroutines, and its lists as asynchronous iterators. Tasks may share one.
    \`async with AsyncClient() as client\` connects at once, and raises ConnectionLost where nobody answers.`,
}

/** The names that the methods have in their signatures. */
function imports(text: string): string {
  const used = (names: readonly string[]) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).join(', ')
  const views = [
    ...['Batch', 'Event', 'Explanation', 'ExportBatch', 'ExportInfo', 'FailureKind', 'FlowInfo', 'FlowJob', 'JobInfo', 'JobSteps'],
    ...[
      'LogLine',
      'ManyResult',
      'PurgeResult',
      'QueueInfo',
      'QueueKeys',
      'QueuesHistory',
      'ScheduleInfo',
      'ScheduleSet',
      'Stats',
      'Throughput',
      'WorkerInfo',
    ],
  ]
  const typing = ['Any', 'AsyncIterator', 'Dict', 'Iterable', 'Iterator', 'List', 'Mapping', 'Optional', 'Sequence', 'Union']
  return `from typing import ${used(typing)}

from . import changes, operations, queues
from ._options import ${used(['JobFilter', 'JobOptions', 'OtherFilters', 'QueueSettings', 'Unpack'])}
from ._schema import ${used(['JOBS_PAGE', 'LIST_PAGE', 'LOGS_PAGE'])}
from .changes import FlowNode
from .encoding import UNSET, NewJob, Seconds, Time
from .keys import ${used(['JobId', 'JobKey', 'JobOfKey', 'JobRef'])}
from .views import (
    ${views.slice(0, 10).join(', ')},
    ${views.slice(10).join(', ')},
)`
}

/** Returns the text of `client.py` or of `async_client.py`. */
export function clientOf(calls: readonly Call[], isAsync: boolean): string {
  const methods = calls.map((call) => methodOf(call, isAsync)).join('\n')
  const [name, base, module] = isAsync ? ['AsyncClient', 'Asynchronous', 'asynchronous'] : ['Client', 'Blocking', '_blocking']
  return `"""The client${isAsync ? ' for asyncio' : ': it puts jobs in and asks about them'}."""
${GENERATED}
from __future__ import annotations

${imports(methods)}

from .${module} import ${base}


class ${name}(${base}):
    """${isAsync ? CLASS_DOCS.async : CLASS_DOCS.sync}"""

${methods}`
}

/** The names of asyncio, and of threads in their place. */
const BLOCKING: readonly (readonly [from: RegExp, to: string])[] = [
  [/\b(?:async|await) /g, ''],
  [/\bopened_async\(((?:\w|\.)+)\)/g, '$1.open()'],
  [/, opened_async\b/g, ''],
  [/\b(\w+)_async\b/g, '$1'],
  [/__a(enter|exit)__/g, '__$1__'],
  [/\bAsync(Client|Iterator)\b/g, '$1'],
  [/\bAsynchronous\b/g, 'Blocking'],
  [/\bAwaitable(?:\[(\w+\[\w+\])\]|, )/g, '$1'],
  [/^import asyncio\n/gm, ''],
  [/\basyncio\.sleep\b/g, 'time.sleep'],
  [/, queued=True/g, ''],
  [/ Threads read and write[^`]*`_blocking.py` is made of this file\./g, ''],
  // Only a client that is connected on entry waits there.
  [/ {8}self\._calls\.open\(\)\n/g, ''],
]

/** Returns the text of `_blocking.py`: what is written for asyncio, for threads. */
export function blockingOf(text: string): string {
  const code = BLOCKING.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
  return code.replace(/^"""[\s\S]*?"""\n/, (doc) => `${doc}${GENERATED}`)
}
