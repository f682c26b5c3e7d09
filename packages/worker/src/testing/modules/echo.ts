/** A handler module that answers its data. */
export function handler({ data }: { readonly data: unknown }): unknown {
  return data
}
