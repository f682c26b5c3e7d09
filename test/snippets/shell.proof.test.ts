// Every snippet for the shell runs as it stands, in a folder that has what it names. The tables of held.ts name those that do not.
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { FILES, GIVEN, needsServer, prepare, runUnit, unitsOf } from './place.ts'
import { differences, readShown } from './shape.ts'

/** Those with other servers are run beside theirs: test/postgres/snippets.test.ts. */
const units = unitsOf((unit) => !needsServer(unit))
/** Programs that snippets use besides those of the house and of every system. */
const TOOLS = ['curl', 'jq'].map((name) => ({ name, missing: spawnSync(name, ['--version']).status !== 0 }))

let template: Awaited<ReturnType<typeof prepare>>
beforeAll(async () => {
  template = await prepare()
})
afterAll(() => template[Symbol.asyncDispose]())

describe.concurrent('each runs', () => {
  test.for(units)('$place', async ({ place, script, toml }, context) => {
    for (const { name, missing } of TOOLS) if (missing && new RegExp(`\\b${name} `).test(script)) context.skip(`no ${name} on this machine`)
    const { code, stdout, stderr } = await runUnit({ place, script, toml }, template, context)
    context.expect(code, `${stderr}${stdout}`).toBe(0)
    const answers = stdout.split('=== answer ===\n').slice(1)
    const shown = shownBehind(script)
    context.expect(answers.length, 'each call of curl begins its line, so that its answer is compared').toBe(shown.length)
    for (const [index, answer] of answers.entries()) context.expect(faultsOf(shown[index] ?? '', answer)).toEqual([])
  })
})

/** Returns the comments behind each call of curl: its answer, as the page shows it. */
function shownBehind(script: string): readonly string[] {
  const [, ...calls] = script.replaceAll('\\\n', '').split(/^curl /m)
  return calls.map((call) => [...call.matchAll(/^# ?(.*)$/gm)].map(([, line]) => line).join(''))
}

function faultsOf(shown: string, answer: string): readonly string[] {
  const [, status, text = ''] = /^(\d{3})?,?\s*(.*)$/s.exec(shown) as RegExpExecArray
  const faults = status === undefined || answer.trimEnd().endsWith(`\n${status}`) ? [] : [`the status is not ${status}: ${answer}`]
  if (text.startsWith('{')) return [...faults, ...differences(readShown(text), JSON.parse(answer.trim().split('\n')[0] as string))]
  // A header with its attributes, whose value is another each time.
  const [, header, attributes] = /^([\w-]+): \S+?=\.\.\.; (.*)$/.exec(text) ?? []
  if (header === undefined) return text === '' ? faults : [...faults, `cannot be compared: ${shown}`]
  const line = answer.split('\r\n').find((each) => each.toLowerCase().startsWith(`${header.toLowerCase()}: `))
  return line?.endsWith(`; ${attributes}`) === true ? faults : [...faults, `${header} is ${line}, not ${text}`]
}

test('the answers that the pages show are found, and one that is wrong is seen', () => {
  const shown = units.flatMap(({ script }) => shownBehind(script)).filter((each) => each !== '')
  expect(shown.length).toBeGreaterThan(3)
  expect(faultsOf('201 {"id":"1...","made":true, ...}', '{"id":"12","created":true}\n200\n')).toEqual([
    'the status is not 201: {"id":"12","created":true}\n200\n',
    '$.made: the page shows boolean, and the answer has nothing',
  ])
  expect(faultsOf('204, Set-Cookie: a=...; HttpOnly', 'set-cookie: a=1; Path=/\r\n\r\n\n204\n')).toEqual([
    'Set-Cookie is set-cookie: a=1; Path=/, not Set-Cookie: a=...; HttpOnly',
  ])
})

/** Bash continues after a command that fails here: in a condition, in a list, within another command, or in the background. */
const HIDDEN = /&&|\|\||^\s*(?:!|if|while|until)\s|(?<!^\w+=)\$\(|[<>]\(|(?<!&)&\s*$/m

test('no snippet has a command whose failure bash would hide', () => {
  const hides = (script: string) => HIDDEN.test(script.replace(/(?<=^|\s)#.*$/gm, ''))
  expect(unitsOf().flatMap(({ place, script }) => (hides(script) ? [place] : []))).toEqual([])
  for (const line of ['a && b', 'a || b', 'if a; then b; fi', 'export A=$(b)', 'a "$(b)"', 'a <(b)', 'a &'])
    expect(hides(line), line).toBe(true)
  for (const line of ['A=$(b)', 'a | b', "curl 'http://a/?b=1&c=2'", 'a # b && c']) expect(hides(line), line).toBe(false)
})

test('each file and each preparation of a place is needed', () => {
  const scripts = unitsOf().map(({ script }) => script)
  const isNamed = (name: string) => [...scripts, ...Object.values(FILES)].some((text) => text.includes(name))
  expect(Object.keys(FILES).filter((name) => !isNamed(name))).toEqual([])
  expect(GIVEN.filter(({ when }) => !scripts.some((script) => when.test(script)))).toEqual([])
})

test('a snippet that fails is seen', async (context) => {
  for (const script of [
    'millrace jobs show none\n',
    'curl http://127.0.0.1:8080/v1/none\n',
    'millrace worker start --handlers ./none.ts\n',
  ]) {
    const { code, stderr } = await runUnit({ place: '', script, toml: undefined }, template, context)
    expect(code, stderr).not.toBe(0)
  }
})

test.each([
  ['npx', 'npx() { shallow; npx; }\nnpx\n'],
  ['a function of the prelude', 'command() { "$@"; }\ncurl http://127.0.0.1:8080/\n'],
  ['one in a bash of its own each time', 'npx() { (shallow; npx); }\nnpx\n'],
])('what calls itself ends: %s', async (_what, script) => {
  const { code, stderr } = await runUnit({ place: '', script, toml: undefined }, template, { onTestFinished })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('calls itself') })
})

test('nothing that a snippet has started outlives it, also if it fails', async (context) => {
  const ends: Parameters<typeof onTestFinished>[0][] = []
  const script = 'millrace worker start --handlers ./handlers.ts --detach --json\nmillrace serve\nmillrace jobs show none\n'
  const { code, stdout } = await runUnit({ place: '', script, toml: undefined }, template, { onTestFinished: (end) => ends.push(end) })
  expect(code).not.toBe(0)
  const { pid } = JSON.parse(stdout) as { readonly pid: number }
  expect(isAlive(pid)).toBe(true)
  for (const end of ends.toReversed()) await end(context)
  await expect.poll(() => isAlive(pid)).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
