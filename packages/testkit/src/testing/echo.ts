/** A handler that is a module: returns its data. */
export function handler({ data }: { readonly data: unknown }): unknown {
  return data
}
