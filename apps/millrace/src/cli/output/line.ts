/** Builds lines for a terminal from values and styles, so that no value can pass for a style or for another line. */
import { stripVTControlCharacters } from 'node:util'
import { visible } from '../../visible.ts'

/** Text whose values are already visible. `line`, the painter and tables create it. */
export class Line {
  /** The text with its styles. */
  readonly written: string
  constructor(written: string) {
    this.written = written
  }
}

/** The output of a view. A string is always a value, no matter what it contains. */
export type Text = string | Line

/** Returns a line from a template: its values are made visible, and lines in it keep their styles. */
export function line(pieces: TemplateStringsArray, ...values: readonly (Text | number)[]): Line {
  return new Line(String.raw({ raw: pieces }, ...values.map((value) => written(typeof value === 'number' ? String(value) : value))))
}

/** Returns the text as it is written to a terminal. */
export function written(text: Text): string {
  return text instanceof Line ? text.written : visible(text)
}

/** Returns the width in characters, as a terminal counts them: styles take no room. */
export function widthOf(text: Text): number {
  return [...stripVTControlCharacters(written(text))].length
}
