/** Where a command says what it has to say: the answer on stdout, for people or as JSON, all else on stderr. */
import { once } from 'node:events'
import { plain } from './plain.ts'
import { type Progress, progressOn } from './progress.ts'
import { type Paint, painter } from './style.ts'
import { type Column, oneLine, tableLines } from './table.ts'

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
  async answer(value: unknown, human: () => string | readonly string[]): Promise<void> {
    if (this.json) return this.#write(`${JSON.stringify(plain(value))}\n`)
    const lines = human()
    await this.#write(safe(typeof lines === 'string' ? lines : lines.join('\n')))
  }

  /** One of many: a line of JSON, or a line for people. Resolves when there is room for the next. */
  item(value: unknown, human: () => string): Promise<void> {
    return this.#write(this.json ? `${JSON.stringify(plain(value))}\n` : safe(human()))
  }

  /** Text as it is: scripts, and lines of JSON that are the answer in either form. */
  text(text: string): Promise<void> {
    return this.#write(text)
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
    return tableLines(columns, rows, (title) => this.paint('bold', title))
  }

  /** What is good to know, and is not the answer. */
  note(text: string): void {
    this.stderr.write(`${text}\n`)
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

/** Lines for a terminal: what a job's error or data says there is text, and no more than text. */
function safe(text: string): string {
  return text === '' ? '' : `${text.split('\n').map(oneLine).join('\n')}\n`
}
