/** The output of a command: the answer on stdout, for people or as JSON, and everything else on stderr. */
import { once } from 'node:events'
import { jsonText } from '../../visible.ts'
import { OutputFailedError } from '../errors.ts'
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
  /** True to print JSON. It is set after the arguments are parsed. */
  json = false
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly paint: Paint
  /** True if the reader of stdout has gone: nothing more is printed. */
  closed = false

  #failure: OutputFailedError | undefined

  /** `onError` is called if stdout fails: `closed` is set if its reader has gone, as with `millrace jobs list | head`. */
  constructor({ stdout, stderr }: OutputStreams, onError: (error: Error) => void) {
    this.stdout = stdout
    this.stderr = stderr
    this.paint = painter(stdout)
    stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') this.closed = true
      else this.#failure ??= new OutputFailedError(error)
      onError(this.#failure ?? error)
    })
    // Messages are lost if nobody reads stderr.
    stderr.on('error', () => {})
  }

  /** Prints the answer of a command: one object of JSON, or lines for people. */
  async answer(value: unknown, human: () => Text | readonly Text[]): Promise<void> {
    if (this.json) return this.#write(`${jsonText(plain(value))}\n`)
    const lines = human()
    await this.lines(Array.isArray(lines) ? lines : [lines as Text])
  }

  /** Prints one of many items: a line of JSON, or a line for people. Resolves when there is room for the next. */
  item(value: unknown, human: () => Text): Promise<void> {
    return this.json ? this.#write(`${jsonText(plain(value))}\n`) : this.lines([human()])
  }

  /** Prints lines for people. */
  lines(lines: readonly Text[]): Promise<void> {
    return this.#write(lines.map((line) => `${written(line)}\n`).join(''))
  }

  /** Prints a string unchanged: scripts, JSON that is the answer in either form, and frames of lines that are already written. */
  raw(text: string): Promise<void> {
    return this.#write(text)
  }

  /** Returns rows below their titles, or the sentence `empty` if there are no rows. */
  list<Row>(empty: string, columns: readonly Column<Row>[], rows: readonly Row[]): Text[] {
    return rows.length === 0 ? [empty] : this.table(columns, rows)
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Line[] {
    // A program that reads the output gets whole values.
    return tableLines(columns, rows, (title) => this.paint('bold', title), this.stdout.isTTY ? this.stdout.columns : undefined)
  }

  /** Prints a note on stderr, which is not part of the answer. */
  note(text: Text): void {
    this.stderr.write(`${written(text)}\n`)
  }

  /** Prints where the next page begins, for people. It goes to stderr, so that programs that read the answer are not confused. */
  more(next: string | undefined): void {
    if (next !== undefined && !this.json) this.note(`there are more: --after ${next}`)
  }

  /** Resolves when everything is written. @throws OutputFailedError */
  async flush(): Promise<void> {
    await new Promise<void>((resolve) => void this.stdout.write('', () => resolve()))
    if (this.#failure !== undefined) throw this.#failure
  }

  progress(): Progress {
    return progressOn(this.stderr)
  }

  async #write(text: string): Promise<void> {
    if (this.closed || text === '' || this.stdout.write(text)) return
    // The wait also ends if the reader goes away meanwhile.
    const gone = new AbortController()
    const closed = () => gone.abort()
    this.stdout.once('error', closed)
    await once(this.stdout, 'drain', { signal: gone.signal }).catch(() => {})
    this.stdout.off('error', closed)
  }
}
