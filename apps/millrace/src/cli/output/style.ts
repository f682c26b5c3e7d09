/** Colours of a terminal. `styleText` leaves them out if the stream is no terminal, or if NO_COLOR is set. */
import { styleText } from 'node:util'
import { Line, type Text, written } from './line.ts'

export type Style = 'bold' | 'dim' | 'inverse' | 'red' | 'green' | 'yellow' | 'cyan'
/** Applies a style to a text after its values are made visible. */
export type Paint = (style: Style, text: Text) => Line

export function painter(stream: NodeJS.WriteStream): Paint {
  return (style, text) => new Line(styleText(style, written(text), { stream }))
}

const OF_STATE: Readonly<Record<string, Style>> = {
  completed: 'green',
  active: 'cyan',
  running: 'cyan',
  failed: 'red',
  cancelled: 'yellow',
  scheduled: 'dim',
  blocked: 'dim',
}

export function stateText(state: string, paint: Paint): Text {
  const style = OF_STATE[state]
  return style === undefined ? state : paint(style, state)
}
