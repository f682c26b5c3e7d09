// docs/cli.md says everything that the program can: each command with its flags, and the exit codes; and all of it is tried here.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nodesOf } from '../../apps/millrace/src/cli/completion/tree.ts'
import type { Context } from '../../apps/millrace/src/cli/context.ts'
import { EXAMPLES } from '../../apps/millrace/src/cli/examples.ts'
import { EXIT } from '../../apps/millrace/src/cli/exit.ts'
import { defaultOf } from '../../apps/millrace/src/cli/groups.ts'
import { createProgram } from '../../apps/millrace/src/cli/program.ts'
import { KEYS } from '../../apps/millrace/src/cli/top/keys.ts'

const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
/** By the words after `millrace`. */
const sections = new Map(
  text
    .split(/^### `millrace /m)
    .slice(1)
    .map((section) => [(/^[a-z-]+(?: [a-z-]+)*/.exec(section) as RegExpExecArray)[0], section] as const),
)
// No command is run: none looks at the rest of it.
const nodes = nodesOf(createProgram({ out: {} } as Context))
const [program, ...commands] = nodes
const global = new Set(program?.flags.flatMap(({ names }) => names))

test('the commands are found', () => {
  expect(commands.length).toBeGreaterThan(40)
})

test('each command has a section, and there is no other', () => {
  const leaves = commands.filter((command) => command.commands.length === 0)
  expect([...sections.keys()].toSorted()).toEqual(leaves.map(({ path }) => path).toSorted())
})

test.each(commands.filter((command) => command.commands.length === 0))('$path: each flag is in its section', ({ path, flags }) => {
  const section = sections.get(path) ?? ''
  for (const { names } of flags) for (const name of names) if (!global.has(name)) expect(section).toMatch(new RegExp(`[\`, ]${name}[\` ,]`))
})

test.each(commands.filter((command) => command.commands.length === 0))(
  '$path: its description and its examples are in its section',
  ({ path, description }) => {
    const section = sections.get(path) ?? ''
    expect(section).toContain(`${description}.`)
    expect(EXAMPLES[path]?.length).toBeGreaterThan(0)
    expect(section).toContain(`\`\`\`sh\n${EXAMPLES[path]?.join('\n')}\n\`\`\``)
  },
)

test('each example is of a command, with flags that it has', () => {
  const byPath = new Map(commands.map((command) => [command.path, command]))
  for (const [path, lines] of Object.entries(EXAMPLES))
    for (const line of lines) {
      const words = (/millrace .*/.exec(line) as RegExpExecArray)[0].replace(/'[^']*'/g, 'quoted').split(' ')
      expect(`millrace ${words.slice(1, 1 + path.split(' ').length).join(' ')}`).toBe(`millrace ${path}`)
      const known = new Set(byPath.get(path)?.flags.flatMap(({ names }) => names))
      // Those of serve are the settings.
      const flags = path === 'serve' || path === 'config show' ? [] : words.filter((word) => /^--?[a-z]/.test(word))
      expect({ line, unknown: flags.filter((flag) => !known.has(flag)) }).toEqual({ line, unknown: [] })
    }
})

test('every description is a sentence in the imperative, and fits the help', () => {
  for (const { path, description } of commands) {
    expect(description, path).toMatch(/^[A-Z][a-z]+,? .*[^.]$/)
    expect(description.length, path).toBeLessThanOrEqual(130)
  }
})

/** What tests say to the program, and the tutorial, whose steps are one of them. */
const tried = ['.', '../postgres/']
  .map((folder) => new URL(folder, import.meta.url))
  .flatMap((folder) => readdirSync(folder).map((file) => new URL(file, folder)))
  .filter(({ pathname }) => pathname.endsWith('.test.ts') && pathname !== new URL(import.meta.url).pathname)
  .map((file) => readFileSync(file, 'utf8'))
  .concat(readFileSync(new URL('../../docs/tutorial.md', import.meta.url), 'utf8'))
  .join('\n')

test('each command is tried by a test, and each flag', () => {
  const leaves = commands.filter(({ commands: within }) => within.length === 0)
  const said = ({ path }: (typeof leaves)[number]) => {
    const words = path.split(' ').map((word) => `'${word}'`)
    return new RegExp(words.join(',\\s*')).test(tried) || tried.includes(`millrace ${path}`)
  }
  expect(leaves.filter((command) => !said(command)).map(({ path }) => path)).toEqual([])
  const flags = leaves.flatMap(({ path, flags }) => flags.map(({ names }) => ({ path, names })))
  const untried = flags.filter(({ names }) => !names.some((name) => tried.includes(`'${name}'`) || tried.includes(`${name} `)))
  expect(untried).toEqual([])
})

test('each group that runs a command if it is named alone has its row, and there is no other', () => {
  const root = createProgram({ out: {} } as Context)
  const alone = root.commands.flatMap((group) => {
    const command = defaultOf(group)
    return command === undefined ? [] : [`${group.name()} ${command.name()}`]
  })
  const [, rows = ''] = /^\| group \| runs \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(text) ?? []
  const told = [...rows.matchAll(/^\| (.*) \| `([a-z]+)` \|$/gm)].flatMap(([, groups = '', runs]) =>
    [...groups.matchAll(/`(?:millrace )?([a-z]+)/g)].map(([, group]) => `${group} ${runs}`),
  )
  expect(told.toSorted()).toEqual(alone.toSorted())
  // A group without one has nothing to show.
  expect(root.commands.filter((group) => group.commands.length > 0 && defaultOf(group) === undefined)).toEqual([])
})

test('the keys of top are those of its help', () => {
  const [, rows = ''] = /^\| key \| what it does \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(sections.get('top') ?? '') ?? []
  expect([...rows.matchAll(/^\| (.*) \| (.*) \|$/gm)].map(([, keys, does]) => [keys, does])).toEqual(KEYS)
})

test('the flags that go with every command are told', () => {
  for (const name of global) expect(text).toContain(name)
})

test('each exit code is told', () => {
  for (const code of Object.values(EXIT)) expect(text).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'))
})
