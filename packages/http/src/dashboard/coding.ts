/** Content codings: which of the compressed bodies of a file a client gets. */
export type Coding = 'br' | 'gzip'

const CODINGS: readonly Coding[] = ['br', 'gzip']

/** Returns the coding that `Accept-Encoding` prefers among those of the file, Brotli if it likes both alike. Undefined for the plain body. */
export function codingOf(accepted: string | null, file: { readonly [coding in Coding]?: unknown }): Coding | undefined {
  const weights = weightsOf(accepted ?? '')
  const weightOf = (coding: Coding) => (file[coding] === undefined ? 0 : (weights.get(coding) ?? weights.get('*') ?? 0))
  const [best] = CODINGS.toSorted((a, b) => weightOf(b) - weightOf(a))
  return best !== undefined && weightOf(best) > 0 ? best : undefined
}

/** Returns what a client accepts, by its name in small letters, with its weight: 0 for what it refuses. */
export function weightsOf(accepted: string): ReadonlyMap<string, number> {
  return new Map(
    accepted.split(',').map((part) => {
      const [name = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase())
      const weight = params.find((param) => param.startsWith('q='))?.slice(2)
      return [name, weight === undefined ? 1 : Number(weight) || 0]
    }),
  )
}
