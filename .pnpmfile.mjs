/** What differs in a packed manifest: a package that its `imports` take from `dist`, where build.ts copies it, is no dependency. */
export const hooks = {
  beforePacking({ dependencies = {}, ...manifest }) {
    const copied = Object.entries(manifest.imports ?? {}).filter(([, target]) => target.startsWith('./dist/'))
    const left = Object.entries(dependencies).filter(([name]) => !copied.some(([key]) => key === `#${name}`))
    return { ...manifest, ...(left.length > 0 && { dependencies: Object.fromEntries(left) }) }
  },
}
