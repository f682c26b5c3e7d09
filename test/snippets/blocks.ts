/** The blocks of code of every page, and the commands in its text: found here, so that a test looks at each new one without being told. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Block {
  /** From the root, such as `docs/cli.md`. */
  readonly page: string
  /** The page and its line, such as `docs/cli.md:6`. */
  readonly place: string
  /** The word behind the fence, such as `sh`. Empty if there is none, `indented` if there is no fence. */
  readonly language: string
  /** The heading above it. */
  readonly heading: string
  readonly text: string
}

/** Code within a line, between ticks. */
export type Span = Pick<Block, 'page' | 'place' | 'text'>

/** Folders that are built or installed, and what tells of earlier versions. */
const NOT_PAGES = ['**/node_modules/**', '**/dist/**', '**/.*/**', '**/CHANGELOG.md']

export const PAGES: readonly string[] = globSync('**/*.md', { cwd: ROOT, exclude: NOT_PAGES })
  .map((path) => path.replaceAll('\\', '/'))
  .toSorted()

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8')

const FENCE = /^( *)(`{3,}|~{3,})(.*)$/
const INDENTED = /^(?: {4}|\t)\s*\S/

interface Found {
  readonly blocks: readonly Block[]
  readonly spans: readonly Span[]
}

/** @throws Error if a fence is not closed */
export function read(page: string, markdown: string): Found {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  const spans: Span[] = []
  let heading = ''
  let inList = false
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    const place = `${page}:${at + 1}`
    const [, margin = '', fence, info = ''] = FENCE.exec(line) ?? []
    const end = (is: (line: string) => boolean) => lines.findIndex((each, index) => index > at && is(each))
    const add = (language: string, within: readonly string[], indent: number) =>
      blocks.push({ page, place, language, heading, text: within.map((each) => `${each.slice(indent)}\n`).join('') })
    if (fence !== undefined) {
      const closed = end((each) => each.trim().startsWith(fence) && FENCE.exec(each)?.[3]?.trim() === '')
      if (closed < 0) throw new Error(`${place}: a fence that is not closed`)
      add(info.trim().split(/[\s{]/)[0] as string, lines.slice(at + 1, closed), margin.length)
      at = closed
      continue
    }
    if (!inList && INDENTED.test(line) && (lines[at - 1] ?? '').trim() === '') {
      const after = end((each) => each.trim() !== '' && !INDENTED.test(each))
      const within = lines.slice(at, after < 0 ? lines.length : after)
      add('indented', within.join('\n').trimEnd().split('\n'), 4)
      at += within.length - 1
      continue
    }
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '')
    // What is indented below an item belongs to it.
    if (/^\s*(?:[-*+]|\d+[.)]) /.test(line)) inList = true
    else if (/^\S/.test(line)) inList = false
    for (const [, text = ''] of line.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) spans.push({ page, place, text })
  }
  return { blocks, spans }
}

const all = PAGES.map((page) => read(page, readPage(page)))

export const BLOCKS: readonly Block[] = all.flatMap(({ blocks }) => blocks)
export const SPANS: readonly Span[] = all.flatMap(({ spans }) => spans)

const SHELL = new Set(['sh', 'bash', 'shell', 'zsh', 'fish', 'powershell', 'console'])
/** Of an indented block: the first word of each of its lines, unless a line continues the one before it. */
const COMMAND = /^(?:npm|npx|pnpm|node|curl|cd|export|millrace|pip|docker|kubectl|\w+=\S+ \w+) /

/** Those that a reader pastes into a shell. */
export const isShell = ({ language, text }: Block): boolean =>
  SHELL.has(language) ||
  (language === 'indented' &&
    text
      .replace(/\\\n/g, '')
      .trim()
      .split('\n')
      .every((line) => COMMAND.test(line)))
