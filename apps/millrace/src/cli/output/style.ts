/** Colours of a terminal. `styleText` leaves them out where the stream is none, and where NO_COLOR says so. */
import { styleText } from 'node:util'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (style: Style, text: string) => string

export function painter(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream })
}

const OF_STATE: Readonly<Record<string, Style>> = {
  completed: 'green',
  active: 'cyan',
  failed: 'red',
  cancelled: 'yellow',
  scheduled: 'dim',
  blocked: 'dim',
}

export function stateText(state: string, paint: Paint): string {
  const style = OF_STATE[state]
  return style === undefined ? state : paint(style, state)
}
