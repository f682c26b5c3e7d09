/** Signs that turn the direction of what follows, or are seen by nobody. */
const UNSEEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** Returns the text with such signs as JSON writes them, so that quotation marks and names stay where they are. */
export function escaped(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
