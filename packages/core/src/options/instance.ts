/** The option `instance`: the name and the colour that tell people which of several engines they look at. */
import { OptionRangeError } from '../errors.ts'
import { choiceOf, optionsReader } from './read.ts'
import { textOption } from './text.ts'

export const INSTANCE_COLOURS = ['blue', 'green', 'grey', 'orange', 'pink', 'purple', 'red', 'yellow'] as const

/** A colour by which people tell engines apart. */
export type InstanceColour = (typeof INSTANCE_COLOURS)[number]

/** The name and the colour of an engine on its pages. */
export interface InstanceOptions {
  /** The name that people call it, such as `production`: 1 to 64 characters. Default none. */
  readonly name?: string
  /** The colour that marks its pages: `blue`, `green`, `grey`, `orange`, `pink`, `purple`, `red` or `yellow`. Default none. */
  readonly colour?: InstanceColour
}

/** The longest name, in UTF-16 units: it stands in the head of each page. */
const NAME_LENGTH = 64

/** @throws OptionTypeError, OptionRangeError */
export const instanceOption: (value: unknown) => InstanceOptions = optionsReader(
  'instance',
  { name: instanceNameOption, colour: choiceOf(INSTANCE_COLOURS) },
  { within: 'instance.' },
)

/** @throws OptionTypeError, OptionRangeError */
export function instanceNameOption(option: string, value: unknown): string {
  const name = textOption(option, value)
  if (name.length <= NAME_LENGTH) return name
  throw new OptionRangeError(
    option,
    NAME_LENGTH,
    `${option} must have 1 to ${NAME_LENGTH} characters, got ${name.length}: choose a short name`,
  )
}
