/** Returns the value of a name, undefined if the record has none: names are of others, and "constructor" is one. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}
