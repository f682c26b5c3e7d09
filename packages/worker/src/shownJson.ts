/** JSON for people: the fields of a log line, and a thrown value that is no error. What cannot be encoded must not hide the rest. */
import { isError } from '@millrace/core'

/** Returns the JSON of an object. A field that cannot be encoded says why. @throws if not even the names of the fields can be read */
export function shownJson(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    const texts = Object.keys(value).map((name) => [name, fieldText(() => (value as Record<string, unknown>)[name])] as const)
    return `{${texts.flatMap(([name, text]) => (text === undefined ? [] : [`${JSON.stringify(name)}:${text}`])).join(',')}}`
  }
}

function fieldText(read: () => unknown): string | undefined {
  try {
    return JSON.stringify(read())
  } catch (error) {
    // The further lines of a cycle's message show its path.
    const [reason] = (isError(error) ? error.message : String(error)).split('\n', 1)
    return JSON.stringify(`[unreadable: ${reason}]`)
  }
}
