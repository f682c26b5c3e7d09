/** Package managers, each in a version that does not change, taken from npm: a run depends neither on the machine nor on this morning's release. */

export interface Installer {
  readonly name: string
  readonly install: readonly [command: string, ...args: string[]]
  /** Runs a program of the folder, if that is not Node itself. */
  readonly node?: readonly [command: string, ...args: string[]]
  /** Of the manifest: the packages need each other, and no registry has them yet. */
  readonly manifest: object
  /** Beside the manifest, by name. */
  readonly files?: Readonly<Record<string, string>>
}

const YARN_1 = ['npx', '-y', 'yarn@1.22.22'] as const
const YARN = ['npx', '-y', '@yarnpkg/cli-dist@4.18.1'] as const

/** @param app the package that is installed @param tarballs paths by the name of the package, `app` among them */
export function installersOf(app: string, tarballs: Readonly<Record<string, string>>): readonly Installer[] {
  const pinned = Object.fromEntries(Object.entries(tarballs).map(([name, path]) => [name, `file:${path}`]))
  const { [app]: direct, ...others } = pinned
  const dependencies = { [app]: direct }
  const yaml = ['overrides:', ...Object.entries(pinned).map(([name, file]) => `  '${name}': '${file}'`), '']
  const yarnrc = ['enableTelemetry: false', 'enableGlobalCache: false', 'enableImmutableInstalls: false', '']
  return [
    { name: 'npm', install: ['npm', 'install', '--no-audit', '--no-fund'], manifest: { dependencies, overrides: others } },
    {
      name: 'pnpm',
      install: ['npx', '-y', 'pnpm@12', 'install'],
      manifest: { dependencies },
      files: { 'pnpm-workspace.yaml': yaml.join('\n') },
    },
    // Its cache goes by name and version alone: it would bring yesterday's tarball.
    {
      name: 'yarn 1',
      install: [...YARN_1, 'install', '--non-interactive', '--cache-folder', 'cache'],
      manifest: { dependencies, resolutions: pinned },
    },
    {
      name: 'yarn 4',
      install: [...YARN, 'install'],
      manifest: { dependencies, resolutions: pinned },
      files: { 'yarn.lock': '', '.yarnrc.yml': ['nodeLinker: node-modules', ...yarnrc].join('\n') },
    },
    {
      name: "yarn 4, Plug'n'Play",
      install: [...YARN, 'install'],
      node: [...YARN, 'node'],
      manifest: { dependencies, resolutions: pinned },
      files: { 'yarn.lock': '', '.yarnrc.yml': yarnrc.join('\n') },
    },
    { name: 'bun', install: ['npx', '-y', 'bun@1.4.5', 'install'], manifest: { dependencies, overrides: pinned } },
  ]
}
