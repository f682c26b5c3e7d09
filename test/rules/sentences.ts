/** The sentences of a page, and the words that no sentence should have. */

/** Words for which there are plainer ones. */
export const UNUSUAL =
  /\b(?:told|whoever|anew|go(?:es|ne)? on|as of|of which|for good|by itself|by themselves|mended|nobody else|what comes|stands? here|(?:after|for|within|than|by|of|up to|started) so (?:many|long|much)|is made of|nor may|is from \d+ to)\b/i

export const WORDS_MAX = 25

const WITHOUT_PROSE = /^```.*?^```$|^---\n.*?^---$|<!--.*?-->|(?<=\n\n)(?: {4}[^\n]*\n)+/gms

/** Returns paragraphs, items and cells of tables, without code. The words of a link stand between ‹ and ›. ` · ` separates items too. */
export function textsOf(page: string): readonly string[] {
  const plain = page
    .replace(WITHOUT_PROSE, '\n\n')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '‹$1›')
    .replace(/`[^`\n]*`/g, 'code')
  return plain
    .split(/\n\s*\n|\n(?=\s*[-|#]|\s*\d+\. )/)
    .flatMap((part) => (part.startsWith('|') ? part.split('|') : [part]))
    .flatMap((part) => part.split(' · '))
    .map((part) => part.replace(/\s+/g, ' ').trim())
    .filter((part) => part !== '')
}

/** Returns the sentences of a text. A colon and a semicolon end one as well, so that lists may be long. */
export const clausesOf = (text: string): readonly string[] => text.split(/(?<=[.:;?!][*)"]*)\s/)

/** Returns the sentences of a text, each up to its full stop. Several names of code in a row are one word, as are numbered ones. */
export const sentencesOf = (text: string): readonly string[] =>
  text
    .replace(/\bcode(?:,? (?:and |or )?code)+\b|\b\d+ [\w.]+(?:, \d+ [\w.]+){3,}/g, 'code')
    .split(/(?<=[.?!][*)"]*)\s/)
    .filter((sentence) => sentence !== '')

export const wordsOf = (sentence: string): number => sentence.split(' ').length
