/**
 * Counts what an object holds in memory: the entries of every map, set and array that it reaches, private fields included. So a
 * new collection is counted without being named here. Private fields are read as a debugger reads them: nothing else sees them.
 */
import { Session } from 'node:inspector'

/**
 * The number of entries by the path of fields that leads to them; `[]` stands for an entry. Collections of one path are counted
 * together.
 */
export type Holdings = ReadonlyMap<string, number>

type Found<T = unknown> = readonly [path: string, value: T]

/**
 * An object that several paths reach is counted at the shortest of them, and at the first of equal length, in the order of
 * fields.
 *
 * @param passed paths to skip, and why: the number of entries of a collection, or all that an object or an entry leads to.
 */
export function holdingsOf(root: object, passed: Readonly<Record<string, string>> = {}): Holdings {
  const counts = new Map<string, number>()
  const seen = new Set<object>([root])
  const fields = new PrivateFields()
  try {
    for (let level: Found<object>[] = [['', root]]; level.length > 0; ) {
      const next: Found[] = []
      const secretive: Found<object>[] = []
      for (const [path, value] of level) {
        const collection = entriesOf(value)
        if (collection !== undefined) {
          if (!(path in passed)) counts.set(path, (counts.get(path) ?? 0) + collection.size)
          for (const entry of collection.entries) next.push([`${path}[]`, entry])
          continue
        }
        for (const [name, field] of Object.entries(value)) next.push([`${path}.${name}`, field])
        if (Object.getPrototypeOf(value) !== Object.prototype) secretive.push([path, value])
      }
      const secrets = fields.of(secretive.map(([, value]) => value))
      for (const [index, [path]] of secretive.entries())
        for (const [name, field] of secrets[index] ?? []) next.push([`${path}.${name.slice(1)}`, field])
      level = next.filter((found): found is Found<object> => {
        const [path, value] = found
        if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) return false
        if (path in passed && !isCollection(value)) return false
        seen.add(value)
        return true
      })
    }
  } finally {
    fields.close()
  }
  return new Map([...counts].filter(([, count]) => count > 0))
}

/** Lists the paths at which the two differ, as `path: one, other`. */
export function differenceOf(one: Holdings, other: Holdings): string[] {
  const paths = [...new Set([...one.keys(), ...other.keys()])].sort()
  return paths.filter((path) => one.get(path) !== other.get(path)).map((path) => `${path}: ${one.get(path) ?? 0}, ${other.get(path) ?? 0}`)
}

function isCollection(value: object): value is Map<unknown, unknown> | Set<unknown> | unknown[] {
  return Array.isArray(value) || value instanceof Map || value instanceof Set
}

/** Returns the entries of a collection, of a map its keys and values; undefined for anything else. */
function entriesOf(value: object): { readonly size: number; readonly entries: readonly unknown[] } | undefined {
  if (!isCollection(value)) return undefined
  if (Array.isArray(value)) return { size: value.length, entries: value }
  return { size: value.size, entries: value instanceof Map ? [...value.keys(), ...value.values()] : [...value] }
}

const DEFERRED = '__heldForPrivateFields'
const held: { objects: readonly unknown[]; values: readonly unknown[] } = { objects: [], values: [] }
Object.defineProperty(globalThis, DEFERRED, { value: held, enumerable: false })

interface Remote {
  readonly objectId?: string
}
interface Property {
  readonly name: string
  readonly value?: Remote
}

class PrivateFields {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
  }

  /** Returns the private fields of each that hold an object, by their names. */
  of(objects: readonly unknown[]): (readonly [name: string, value: unknown])[][] {
    if (objects.length === 0) return []
    held.objects = objects
    const { result } = this.#post('Runtime.evaluate', { expression: `${DEFERRED}.objects` }) as { result: Remote }
    const listed = this.#properties(result).result.filter(({ name }) => /^\d+$/.test(name))
    const fields = listed.map(({ value }) => this.#properties(value).privateProperties?.filter((field) => field.value?.objectId) ?? [])
    this.#post('Runtime.callFunctionOn', {
      objectId: result.objectId,
      functionDeclaration: `function (...values) { ${DEFERRED}.values = values }`,
      arguments: fields.flat().map(({ value }) => ({ objectId: value?.objectId })),
    })
    const values = held.values.values()
    return fields.map((own) => own.map(({ name }) => [name, values.next().value] as const))
  }

  close(): void {
    this.#session.disconnect()
    held.objects = []
    held.values = []
  }

  #properties(of: Remote | undefined) {
    return this.#post('Runtime.getProperties', { objectId: of?.objectId, ownProperties: true }) as {
      readonly result: readonly Property[]
      readonly privateProperties?: readonly Property[]
    }
  }

  /** Returns the answer, which arrives before `post` returns: the thread asks itself. */
  #post(method: string, parameters: object): unknown {
    let answer: unknown
    this.#session.post(method as 'Runtime.evaluate', parameters as never, (error, result) => {
      if (error !== null) throw new Error(`${method}: ${JSON.stringify(error)}`)
      answer = result
    })
    return answer
  }
}
