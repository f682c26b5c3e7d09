/** Adds what the engine has to say of a job to its `meta`, which is JSON text. */

/** Returns the meta with `name`, which replaces what its caller has given by that name. A meta that is no object stands in a field `meta`. */
export function metaWith(meta = '{}', name: 'schedule' | 'deadLetter', value: unknown): string {
  const own = without(objectOf(meta), name).slice(1).trimStart()
  return `{"${name}":${JSON.stringify(value)}${own === '}' ? '' : ','}${own}`
}

/** Returns the text of an object. Its numbers stay as they were written. */
function objectOf(meta: string): string {
  const text = meta.trim()
  if (text.startsWith('{') && isJson(text)) return text
  if (text === 'null') return '{}'
  return `{"meta":${isJson(text) ? text : JSON.stringify(meta)}}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns what the meta has by `name`; undefined if it has nothing, or is no JSON of an object. */
export function metaOf(meta = '{}', name: 'schedule'): unknown {
  try {
    return JSON.parse(meta)?.[name]
  } catch {
    return undefined
  }
}

/** Removes `name` from the meta. If another library sent something that is not JSON, it stays. */
function without(meta: string, name: string): string {
  try {
    const { [name]: value, ...own } = JSON.parse(meta)
    return value === undefined ? meta : JSON.stringify(own)
  } catch {
    return meta
  }
}
