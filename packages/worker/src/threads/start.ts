/** Locates the files of threads, and sets the Node options of threads that run one. */
import { existsSync } from 'node:fs'
import { UnsupportedRuntimeError } from '@millrace/core'

/**
 * Returns the file with that name beside the caller's: in the sources, in published packages, and in a bundle that has it as an entry.
 *
 * @param here `import.meta.url` of the caller; a bundler may have replaced it by undefined, or by a path of the machine
 * that bundled
 * @throws UnsupportedRuntimeError if the package was bundled without this file
 */
export function threadFile(name: string, here: string | undefined): URL {
  const file = here === undefined ? undefined : besides(name, here)
  if (file !== undefined && existsSync(file)) return file
  throw new UnsupportedRuntimeError(
    `the engine has been bundled, and the file of its threads, ${name}, is not beside the bundle: mark @millrace/engine as external in the bundler (esbuild: --external:@millrace/engine; webpack: externals; Vite: ssr.external; Next: serverExternalPackages), and install it where the bundle runs; or make the files of @millrace/engine/bundle entries of the bundle`,
  )
}

function besides(name: string, here: string): URL {
  // A bundler gives all entries the same extension.
  if (!here.endsWith('.ts')) return new URL(`./${name}${/\.[cm]js$/.exec(here)?.[0] ?? '.js'}`, here)
  // Tests of this workspace take their threads from the build (test/built.ts).
  return process.env['NODE_OPTIONS']?.includes('millrace-dist') === true
    ? new URL(`dist/${name}.js`, here.replace(/src\/.*$/, ''))
    : new URL(`./${name}.ts`, here)
}

/**
 * Returns the options of threads. Threads inherit the options of their process, but `--input-type` only fits code that is
 * given as a string: a thread with a file refuses it and dies. A process that was started with it (`node
 * --input-type=module -e …`) starts its threads without options.
 */
export function threadOptions(): { readonly execArgv?: string[] } {
  return process.execArgv.some((option) => option.startsWith('--input-type')) ? { execArgv: [] } : {}
}
