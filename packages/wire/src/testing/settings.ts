/** The table of the settings of a queue in docs/protocol.md, from the rows of core. They travel in a map. */
import { type Kind, QUEUE_OPTIONS, type Row } from '@millrace/core'
import { noteOf } from '../schema/jobs.ts'
import { duration, integer, name } from '../schema/kinds.ts'

/** Returns the cells of each setting. */
export function settingRows(): readonly (readonly string[])[] {
  return Object.entries<Row>(QUEUE_OPTIONS).map(([setting, row]) => [`\`${setting}\``, holds(row.kind), noteOf(row)])
}

function holds(kind: Kind): string {
  switch (kind.type) {
    case 'name':
      return name().says
    case 'integer':
      return integer(kind.min, kind.max).says
    case 'duration':
      return duration(kind.min).says
    case 'choice':
      return `one of ${listed(kind.words, ' ')}`
    case 'keep':
      return 'milliseconds, `forever`, or a map of `age`, `count`'
    case 'tiers':
      return `map by name: ${holds(kind.of)}`
    case 'record': {
      const fields = Object.values(kind.fields)
      const each = fields.every((field) => field.kind.type === 'keep') ? `, each ${holds((fields[0] as Row).kind)}` : ''
      return `map of ${listed(Object.keys(kind.fields), ', ')}${each}`
    }
    default:
      return kind.type
  }
}

const listed = (words: readonly string[], between: string) => words.map((word) => `\`${word}\``).join(between)
