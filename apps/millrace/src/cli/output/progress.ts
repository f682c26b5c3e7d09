/** Shows the progress of long work in one line of a terminal, drawn repeatedly. It shows nothing if stderr is no terminal. */
import { visible } from '../../visible.ts'
import { now } from '../clock.ts'

export interface Progress {
  show(text: () => string): void
  /** Erases the line. */
  end(): void
}

const EVERY_MS = 100
const ERASE = '\r\u001b[2K'

export function progressOn(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { show: () => {}, end: () => {} }
  let shownAt = 0
  return {
    show: (text) => {
      const at = now()
      if (at - shownAt < EVERY_MS) return
      shownAt = at
      stream.write(`${ERASE}${visible(text()).slice(0, (stream.columns || 80) - 1)}`)
    },
    end: () => {
      if (shownAt !== 0) stream.write(ERASE)
    },
  }
}
