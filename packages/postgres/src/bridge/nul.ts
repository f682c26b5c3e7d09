/**
 * Strings on their way to the server and back. Postgres stores no NUL, and keys and messages may have one: it travels as two characters of a
 * private area, and the first of these as two as well.
 */
export const MARK = '\uf8f1'
const NUL = `${MARK}\uf8f2`
export const MARK_ITSELF = `${MARK}\uf8f3`

export function escaped(text: string): string {
  if (!text.includes('\0') && !text.includes(MARK)) return text
  return text.replaceAll(MARK, MARK_ITSELF).replaceAll('\0', NUL)
}

export function restored(text: string): string {
  return text.includes(MARK) ? text.replaceAll(NUL, '\0').replaceAll(MARK_ITSELF, MARK) : text
}
