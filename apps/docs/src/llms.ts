/** `llms.txt` and `llms-full.txt`: the pages for programs that read them instead of people. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Entry, type Group, HOME, isPage, pagesOf } from './contents.ts'
import { addressOf, type Site, targetOf } from './links.ts'
import { firstSentenceOf, titleOf } from './markdown.ts'
import { readPage } from './root.ts'

/** The groups of `llms-full.txt`: what somebody needs who writes a program with Millrace. */
const WHOLE = ['Start', 'Concepts', 'Guides', 'Reference']

type Read = (path: string) => string

export function writeForPrograms(folder: string, groups: readonly Group[], site: Site): void {
  writeFileSync(join(folder, 'llms.txt'), listForPrograms(readPage(HOME), groups, readPage))
  writeFileSync(join(folder, 'llms-full.txt'), textForPrograms(groups, readPage, site))
}

/** Returns the list of all pages: the title, the address and the first sentence of each. */
export function listForPrograms(home: string, groups: readonly Group[], read: Read): string {
  const row = ({ path }: Entry) => `- [${titleOf(read(path))}](${addressOf(path)}): ${firstSentenceOf(read(path))}`
  const sections = groups.map(({ name, entries }) => `## ${name}\n\n${pagesOf([{ name, entries }]).map(row).join('\n')}\n`)
  return `# ${titleOf(home)}\n\n> ${firstSentenceOf(home)}\n\n${sections.join('\n')}`
}

/** Returns the text of the pages that explain how to use Millrace. Links lead to where the site's lead. */
export function textForPrograms(groups: readonly Group[], read: Read, site: Site): string {
  const pages = groups.filter(({ name }) => WHOLE.includes(name)).flatMap(({ entries }) => entries.filter(isPage))
  return pages.map(({ path }) => `<!-- ${addressOf(path)} -->\n\n${withTargets(read(path), path, site).trim()}\n`).join('\n')
}

/** Blocks and spans of code stay as they are. */
function withTargets(markdown: string, from: string, site: Site): string {
  return markdown.replace(/^```.*?^```$|`[^`\n]*`|\]\(([^)\s]+)\)/gms, (found, link: string | undefined) =>
    link === undefined ? found : `](${targetOf(link, from, site)})`,
  )
}
