/** Turns the notes of `.changeset` into a section of CHANGELOG.md. All packages have one version, so they have one changelog. */

/** The headings, and which notes come under them: a word in front of the text, else the kind of the change. */
const HEADINGS = [
  { title: 'Breaking', word: 'Breaking:', bump: 'major' },
  { title: 'Deprecated', word: 'Deprecated:', bump: undefined },
  { title: 'New', word: undefined, bump: 'minor' },
  { title: 'Fixed', word: undefined, bump: 'patch' },
] as const

/**
 * Returns the section of a version.
 *
 * @param notes the files of `.changeset`: packages with the kind of the change, and a text for users
 * @throws Error for a note without a head
 */
export function sectionOf(version: string, notes: readonly string[]): string {
  const read = notes.map(readNote)
  const parts = HEADINGS.map((heading) => {
    const texts = read.filter((note) => headingOf(note) === heading).map(({ text }) => `- ${text.replaceAll('\n', '\n  ')}\n`)
    return texts.length === 0 ? '' : `\n### ${heading.title}\n\n${texts.join('')}`
  })
  return `## ${version}\n${parts.join('')}`
}

interface Note {
  readonly bumps: readonly string[]
  readonly text: string
}

function readNote(file: string): Note {
  const [, head, text] = /^---\r?\n(.*?)^---\r?\n(.*)$/ms.exec(file) ?? []
  if (head === undefined || text === undefined)
    throw new Error(`a changeset begins with packages between two lines of ---, got: ${file.slice(0, 60)}`)
  return { bumps: [...head.matchAll(/: *(\w+) *$/gm)].map(([, bump]) => bump as string), text: text.trim() }
}

function headingOf({ bumps, text }: Note): (typeof HEADINGS)[number] {
  const byWord = HEADINGS.find(({ word }) => word !== undefined && text.startsWith(word))
  return byWord ?? HEADINGS.find(({ bump }) => bump !== undefined && bumps.includes(bump)) ?? HEADINGS[3]
}

/** Returns the changelog with a section in front of those that it has. */
export function withSection(changelog: string, section: string): string {
  const at = changelog.indexOf('\n## ')
  return at < 0 ? `${changelog.trimEnd()}\n\n${section}` : `${changelog.slice(0, at + 1)}${section}\n${changelog.slice(at + 1)}`
}
