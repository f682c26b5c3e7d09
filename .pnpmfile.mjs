/**
 * What differs in a packed manifest:
 *
 * - A package that its `imports` take from `dist`, where build.ts copies it, is no dependency.
 * - TypeScript with `moduleResolution: 'node'` does not read `exports`: `typesVersions` has the types of each subpath for it.
 */
export const hooks = {
  beforePacking({ dependencies = {}, ...manifest }) {
    const copied = Object.entries(manifest.imports ?? {}).filter(([, target]) => target.startsWith('./dist/'))
    const left = Object.entries(dependencies).filter(([name]) => !copied.some(([key]) => key === `#${name}`))
    const subpaths = Object.entries(manifest.exports ?? {}).filter(([path, { types }]) => path !== '.' && types !== undefined)
    return {
      ...manifest,
      ...(subpaths.length > 0 && {
        typesVersions: { '*': Object.fromEntries(subpaths.map(([path, { types }]) => [path.slice(2), [types]])) },
      }),
      ...(left.length > 0 && { dependencies: Object.fromEntries(left) }),
    }
  },
}
