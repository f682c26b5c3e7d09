/** Where a command says what it has to say: the answer on stdout, for people or as JSON, all else on stderr. */
import { once } from 'node:events'
import { jsonText } from '../../visible.ts'
import { type Line, type Text, written } from './line.ts'
import { plain } from './plain.ts'
import { type Progress, progressOn } from './progress.ts'
import { type Paint, painter } from './style.ts'
import { type Column, tableLines } from './table.ts'

export interface OutputStreams {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

export class Output {
  /** Set once the arguments are read. */
  json = false
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly paint: Paint
  /** Whoever read has gone: nothing more is to be said. */
  closed = false

  /** `onError` hears what is wrong with stdout; `closed` is set by then where the reader has gone, as of `millrace jobs list | head`. */
  constructor({ stdout, stderr }: OutputStreams, onError: (error: Error) => void) {
    this.stdout = stdout
    this.stderr = stderr
    this.paint = painter(stdout)
    stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') this.closed = true
      onError(error)
    })
    // Whoever does not read what went wrong does not hear it.
    stderr.on('error', () => {})
  }

  /** The answer of a command: one object of JSON, or lines for people. */
  async answer(value: unknown, human: () => Text | readonly Text[]): Promise<void> {
    if (this.json) return this.#write(`${jsonText(plain(value))}\n`)
    const lines = human()
    await this.lines(Array.isArray(lines) ? lines : [lines as Text])
  }

  /** One of many: a line of JSON, or a line for people. Resolves when there is room for the next. */
  item(value: unknown, human: () => Text): Promise<void> {
    return this.json ? this.#write(`${jsonText(plain(value))}\n`) : this.lines([human()])
  }

  /** Lines for people. */
  lines(lines: readonly Text[]): Promise<void> {
    return this.#write(lines.map((line) => `${written(line)}\n`).join(''))
  }

  /** Text as it is: scripts, JSON that is the answer in either form, and what a command draws of lines that are written already. */
  raw(text: string): Promise<void> {
    return this.#write(text)
  }

  /** Rows below their titles; without a row the sentence that says so. */
  list<Row>(empty: string, columns: readonly Column<Row>[], rows: readonly Row[]): Text[] {
    return rows.length === 0 ? [empty] : this.table(columns, rows)
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Line[] {
    return tableLines(columns, rows, (title) => this.paint('bold', title))
  }

  /** What is good to know, and is not the answer. */
  note(text: Text): void {
    this.stderr.write(`${written(text)}\n`)
  }

  /** Where the next page begins, for people: beside the answer, so that what reads it is not confused. */
  more(next: string | undefined): void {
    if (next !== undefined && !this.json) this.note(`there are more: --after ${next}`)
  }

  progress(): Progress {
    return progressOn(this.stderr)
  }

  async #write(text: string): Promise<void> {
    if (this.closed || text === '' || this.stdout.write(text)) return
    // Ends also where the reader goes away meanwhile.
    const gone = new AbortController()
    const closed = () => gone.abort()
    this.stdout.once('error', closed)
    await once(this.stdout, 'drain', { signal: gone.signal }).catch(() => {})
    this.stdout.off('error', closed)
  }
}
