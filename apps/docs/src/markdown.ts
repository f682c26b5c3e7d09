/** Pages in Markdown: their titles, anchors and first sentences. */

/** Returns the anchor of a heading as the code host names it, so that links work there and on the site. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** Returns the anchors of a page. The second heading of a text gets `-1` after it, the third `-2`. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const anchors = [...withoutBlocks(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const slug = slugOf(plainOf(heading))
    const before = counts.get(slug) ?? 0
    counts.set(slug, before + 1)
    return before === 0 ? slug : `${slug}-${before}`
  })
  return new Set(anchors)
}

/** Returns a page without its blocks of code. */
const withoutBlocks = (markdown: string): string => markdown.replace(/^```.*?^```$/gms, '')

/** Returns a piece of Markdown as it reads: without links, emphasis and the ticks of code. */
export const plainOf = (markdown: string): string =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim()

export function titleOf(markdown: string): string {
  return plainOf(/^# (.+)$/m.exec(markdown)?.[1] ?? '')
}

/** Returns the first sentence of the first paragraph, without a word in bold that stands before it. */
export function firstSentenceOf(markdown: string): string {
  const paragraphs = withoutBlocks(markdown).split(/\n\s*\n/)
  const paragraph = paragraphs.find((one) => /^[^#<|>-]/.test(one.trim())) ?? ''
  const text = plainOf(paragraph.trim().replace(/^\*\*\w+\.\*\* /, ''))
  return /^.*?[.!?](?= |$)/.exec(text)?.[0] ?? text
}
