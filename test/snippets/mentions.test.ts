// What sentences and tables name, between ticks: commands with their flags, scripts, variables and routes. It is there.
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { readEnvironment } from '../../apps/millrace/src/config/environment.ts'
import { Place } from '../app/millrace.ts'
import { BLOCKS, SPANS } from './blocks.ts'
import { parseMention } from './millrace.ts'
import { PROGRAMS } from './programs.ts'
import { commandsOf } from './script.ts'

interface Mention {
  readonly page: string
  readonly place: string
  readonly text: string
}

const mentions = (pattern: RegExp): readonly Mention[] => SPANS.filter(({ text }) => pattern.test(text))

/** Returns what a check throws, with the place of each. */
function faultsOf(all: readonly Mention[], check: (mention: Mention) => void): readonly string[] {
  return all.flatMap((mention) => {
    try {
      check(mention)
      return []
    } catch (error) {
      return [`${mention.place}: ${mention.text}: ${(error as Error).message}`]
    }
  })
}

/** Brackets of a placeholder would be redirections, and a table writes | as \\|. */
const wordsOf = (line: string): readonly string[] =>
  commandsOf(line.replace(/<[\w|.-]+>|\[[\w|.-]+\]/gi, '[placeholder]').replaceAll('\\|', '|'))[0]?.words ?? []

const checkCommand = ({ text }: Mention) => parseMention(wordsOf(text.replace(/^(?:npx |pnpm )?millrace /, '')))

test('each command of millrace is one, with flags that it has', () => {
  const all = mentions(/^(?:npx |pnpm )?millrace ./)
  expect(all.length).toBeGreaterThan(150)
  expect(faultsOf(all, checkCommand)).toEqual([])
})

/** Commands of pnpm and npm themselves. */
const OWN = /^(?:pnpm (?:docs|create )|npm (?:create(?: millrace)?$|outdated|ci$|audit$))/

test('each script is one of the workspace', () => {
  const all = mentions(/^(?:npx -y pnpm@12|pnpm|npm) (?!millrace )./)
  expect(all.length).toBeGreaterThan(60)
  const faults = faultsOf(
    all.filter(({ text }) => !OWN.test(text)),
    ({ page, text }) => {
      const [program = '', ...words] = wordsOf(text)
      PROGRAMS[program]?.(words, { page, text: '', folder: dirname(page) })
    },
  )
  expect(faults).toEqual([])
})

/** Fails for a name that the daemon would refuse. The value is refused by most. */
function checkVariable(name: string): void {
  try {
    readEnvironment({ [name]: '1' })
  } catch (error) {
    if ((error as Error).message.startsWith('unknown variable')) throw error
  }
}

test('the daemon accepts each variable, also those of other commands, which stand in the environment of a user', () => {
  const all = [...SPANS, ...BLOCKS].flatMap(({ page, place, text }) =>
    [...text.matchAll(/(?<![\w-])MILLRACE_[A-Z_]*[A-Z](?![\w*])/g)].map(([name]) => ({ page, place, text: name })),
  )
  expect(new Set(all.map(({ text }) => text)).size).toBeGreaterThan(90)
  expect(faultsOf(all, ({ text }) => checkVariable(text))).toEqual([])
})

/** The routes of a daemon, such as `GET /v1/jobs/{id}`. */
async function routesOf(): Promise<readonly string[]> {
  const { paths } = JSON.parse(await new Place().ok('openapi')) as { readonly paths: Readonly<Record<string, object>> }
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
}

function checkRoute(routes: readonly string[], { text }: Mention): void {
  const [route = ''] = text.split('?')
  // A parameter stands for any segment.
  if (!routes.some((each) => new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(route)))
    throw new Error('the daemon has no such route')
}

test('each route of the API is one of the daemon, and docs/http.md has all of those', async () => {
  const routes = await routesOf()
  const all = mentions(/^(?:GET|POST|PUT|PATCH|DELETE) \/v1\//)
  expect(all.length).toBeGreaterThan(100)
  expect(faultsOf(all, (mention) => checkRoute(routes, mention))).toEqual([])
  const told = new Set(all.flatMap(({ page, text }) => (page === 'docs/http.md' ? [text.split('?')[0]] : [])))
  expect(routes.filter((route) => / \/v1\//.test(route) && !told.has(route))).toEqual([])
})

test('a mention that is wrong is seen', () => {
  const mention = (text: string): Mention => ({ page: 'docs/a.md', place: 'docs/a.md:1', text })
  expect(faultsOf([mention('millrace jobs lits')], checkCommand)).toHaveLength(1)
  expect(faultsOf([mention('millrace serve --htp-port 80')], checkCommand)).toHaveLength(1)
  expect(faultsOf([mention('POST /v1/jobs:everything')], (each) => checkRoute(['POST /v1/jobs:import'], each))).toHaveLength(1)
  expect(() => checkVariable('MILLRACE_HTTP_PRT')).toThrow(/unknown variable/)
})
