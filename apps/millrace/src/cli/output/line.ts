/** Lines for a terminal, put together of values and styles, so that no value can pass for a style or for another line. */
import { stripVTControlCharacters } from 'node:util'
import { visible } from '../../visible.ts'

/** Text whose values have been made visible: made by `line`, by the painter and by tables. */
export class Line {
  /** With its styles. */
  readonly written: string
  constructor(written: string) {
    this.written = written
  }
}

/** What a view says: a string is a value, whatever is in it. */
export type Text = string | Line

/** A template whose values are made visible, and whose lines keep their styles. */
export function line(pieces: TemplateStringsArray, ...values: readonly (Text | number)[]): Line {
  return new Line(String.raw({ raw: pieces }, ...values.map((value) => written(typeof value === 'number' ? String(value) : value))))
}

/** As it goes to a terminal. */
export function written(text: Text): string {
  return text instanceof Line ? text.written : visible(text)
}

/** Characters, as a terminal counts them: styles take no room. */
export function widthOf(text: Text): number {
  return [...stripVTControlCharacters(written(text))].length
}
