/** A value as an error message names it: short, and never the whole of somebody's data. */

const SHOWN = 64

/** A name that somebody has sent, cut as `describe` cuts strings. */
export function shortened(name: string): string {
  return name.length > SHOWN ? `${name.slice(0, SHOWN)}...` : name
}

export function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > SHOWN ? `${JSON.stringify(value.slice(0, SHOWN))}...` : JSON.stringify(value)
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value)
    case 'bigint':
      return `${value}n`
    case 'function':
      return 'a function'
    case 'symbol':
      return 'a symbol'
    default:
      return value === null ? 'null' : Array.isArray(value) ? 'an array' : value instanceof Date ? 'a Date' : 'an object'
  }
}
