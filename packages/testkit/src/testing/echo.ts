/** A handler that is a module: answers its data. */
export function handler({ data }: { readonly data: unknown }): unknown {
  return data
}
