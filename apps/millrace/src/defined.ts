/**
 * Returns the options without those that are undefined, which the engine refuses. The rest is unchecked: the engine checks it.
 */
export function defined<Options extends object>(options: { readonly [Name in keyof Options]?: unknown }): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options
}
