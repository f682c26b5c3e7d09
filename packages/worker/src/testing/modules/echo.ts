/** A handler module that returns its data. */
export function handler({ data }: { readonly data: unknown }): unknown {
  return data
}
