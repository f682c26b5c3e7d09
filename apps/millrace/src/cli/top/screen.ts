/** A second screen of the terminal, with keys that are read one by one. The terminal is restored at every end of the program. */
import type { Context } from '../context.ts'
import type { Text } from '../output/line.ts'
import { keysIn } from './keys.ts'
import { drawing, type Size } from './view.ts'

export interface Screen {
  readonly size: Size
  /** Draws the lines that `picture` returns. While the terminal takes no more, only the last drawing counts. */
  draw(picture: () => readonly Text[]): void
  /** Restores the terminal. It may be called again. */
  close(): void
}

/** Sequences that enter and leave a second screen without a cursor, where long lines are cut. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'

/** @param onKey called with each key; never, if stdin is no terminal. @param resized called when the terminal has another size */
export function openScreen({ out, stdin }: Pick<Context, 'out' | 'stdin'>, onKey: (key: string) => void, resized: () => void): Screen {
  const { stdout } = out
  let isOpen = true
  let busy = false
  let waiting: (() => readonly Text[]) | undefined
  const take = (input: string) => {
    for (const key of keysIn(input)) onKey(key)
  }
  const close = () => {
    if (!isOpen) return
    isOpen = false
    stdout.off('resize', resized)
    process.off('exit', close)
    if (stdin.isTTY) stdin.off('data', take).setRawMode(false).pause()
    stdout.write(LEAVE)
  }
  const draw = (picture: () => readonly Text[]) => {
    if (!isOpen) return
    waiting = picture
    if (busy) return
    busy = true
    const text = drawing(waiting())
    waiting = undefined
    void out.raw(text).then(() => {
      busy = false
      if (waiting !== undefined) draw(waiting)
    })
  }
  // The process may exit without an end of the command: by a second signal, or by an error that nobody has caught.
  process.on('exit', close)
  stdout.on('resize', resized)
  stdout.write(ENTER)
  if (stdin.isTTY) stdin.setRawMode(true).setEncoding('utf8').on('data', take)
  return {
    // A terminal of unknown size reports 0.
    get size() {
      return { columns: stdout.columns || 80, rows: stdout.rows || 24 }
    },
    draw,
    close,
  }
}
