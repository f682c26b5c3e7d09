// docs/cli.md says everything that the program can: each command with its flags, and the exit codes; and all of it is tried here.
// After a change: `vitest run --project system test/app/docs.test.ts -u` writes its tables of options anew.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { nodesOf } from '../../apps/millrace/src/cli/completion/tree.ts'
import type { Context } from '../../apps/millrace/src/cli/context.ts'
import { EXAMPLES } from '../../apps/millrace/src/cli/examples.ts'
import { defaultOf } from '../../apps/millrace/src/cli/groups.ts'
import { createProgram } from '../../apps/millrace/src/cli/program.ts'
import { KEYS } from '../../apps/millrace/src/cli/top/keys.ts'
import { EXIT } from '../../apps/millrace/src/exit.ts'

const PAGE = fileURLToPath(new URL('../../docs/cli.md', import.meta.url))
const text = readFileSync(PAGE, 'utf8')
/** By the words after `millrace`. */
const sections = new Map(
  text
    .split(/^### `millrace /m)
    .slice(1)
    .map((section) => [(/^[a-z-]+(?: [a-z-]+)*/.exec(section) as RegExpExecArray)[0], section] as const),
)
// No command is run: none looks at the rest of it.
const root = createProgram({ out: {} } as Context)
const nodes = nodesOf(root)
const [program, ...commands] = nodes
const global = new Set(program?.flags.flatMap(({ names }) => names))

test('the commands are found', () => {
  expect(commands.length).toBeGreaterThan(40)
})

test('each command has a section, and there is no other', () => {
  const leaves = commands.filter((command) => command.commands.length === 0)
  expect([...sections.keys()].toSorted()).toEqual(leaves.map(({ path }) => path).toSorted())
})

type Command = ReturnType<typeof createProgram>

/** The rows of the table of a command's options. */
const OPTIONS = /(?<=^\| option \| \|\n\|---\|---\|\n)(?:\|.*\n)+/m

/** Returns a section with its table of options as the help of its command has them. */
function withOptions(section: string, { options }: Command): string {
  if (options.length === 0) return section.replace(OPTIONS, '')
  return section.replace(OPTIONS, () =>
    options.map(({ flags, description }) => `| \`${flags}\` | ${description.replaceAll('|', '\\|')} |\n`).join(''),
  )
}

const commandOf = (path: string): Command =>
  path.split(' ').reduce((group: Command, name) => group.commands.find((each) => each.name() === name) as Command, root)

test('the options of each command are those of its help', async () => {
  for (const [path, section] of sections)
    expect({ path, hasOptions: OPTIONS.test(section) }).toEqual({ path, hasOptions: commandOf(path).options.length > 0 })
  const written = [...sections].reduce((page, [path, section]) => page.replace(section, () => withOptions(section, commandOf(path))), text)
  await expect(written).toMatchFileSnapshot(PAGE)
})

test.each(commands.filter((command) => command.commands.length === 0))('$path: each argument is explained in its section', ({ path }) => {
  const section = sections.get(path)?.replaceAll('`', '').replace(/\s+/g, ' ')
  for (const argument of commandOf(path).registeredArguments)
    if (argument.description !== '') expect(section).toContain(`${argument.name()}: ${argument.description}`)
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

/** Openings that leave out what a flag or an argument is. A condition before a colon is none: `with --wait: ...`. */
const HEADLESS = /^(?:of|that|whose|which|what|where|why|who|whether|in|its)\b|^with (?![^:]*: )/

test('no help of a flag or an argument is a fragment', () => {
  const texts = [...sections.keys()].flatMap((path) => {
    const { options, registeredArguments } = commandOf(path)
    return [...options, ...registeredArguments].map(({ description }) => `${path}: ${description}`)
  })
  expect(texts.length).toBeGreaterThan(200)
  expect(texts.filter((each) => HEADLESS.test(each.slice(each.indexOf(': ') + 2)))).toEqual([])
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
