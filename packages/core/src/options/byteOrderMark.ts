/** The mark that some editors and shells put before a text. */

/** Returns a text from a file, a pipe or a body without the byte order mark at its front. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
