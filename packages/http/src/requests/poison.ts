/** Refuses keys that would reach an object's prototype if somebody merged the input, however deep they are. */
import { HttpError } from '../errors.ts'

/** @param text that `value` was parsed from: a search in it clears most values, and only the others are walked through */
export function refusePoison(text: string, value: unknown): void {
  if (!text.includes('__proto__') && !text.includes('constructor') && !text.includes('\\u')) return
  const open: unknown[] = [value]
  while (open.length > 0) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    if (Object.hasOwn(node, '__proto__')) throw poisoned('__proto__')
    if (Object.hasOwn(node, 'constructor') && isObject((node as { constructor: unknown }).constructor)) throw poisoned('constructor')
    for (const child of Object.values(node)) if (isObject(child)) open.push(child)
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function poisoned(key: string): HttpError {
  return new HttpError('FORBIDDEN_KEY', `the body has an object under the key '${key}', which is not taken: name it otherwise`, {
    option: key,
  })
}
