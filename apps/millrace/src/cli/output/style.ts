/** Colours of a terminal. `styleText` leaves them out where the stream is none, and where NO_COLOR says so. */
import { styleText } from 'node:util'
import { Line, type Text, written } from './line.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
/** Puts a style on a text, once its values are visible. */
export type Paint = (style: Style, text: Text) => Line

export function painter(stream: NodeJS.WriteStream): Paint {
  return (style, text) => new Line(styleText(style, written(text), { stream }))
}

const OF_STATE: Readonly<Record<string, Style>> = {
  completed: 'green',
  active: 'cyan',
  failed: 'red',
  cancelled: 'yellow',
  scheduled: 'dim',
  blocked: 'dim',
}

export function stateText(state: string, paint: Paint): Text {
  const style = OF_STATE[state]
  return style === undefined ? state : paint(style, state)
}
