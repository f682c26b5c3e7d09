/** What of the machine a scenario needs, and how it is told where it is not there. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The command that gives a program a disk of its own of so many MiB at the folder, where this system has one to give. */
export function smallDisk(folder: string, mebibytes: number): readonly string[] | undefined {
  const mount = `mount -t tmpfs -o size=${mebibytes}m tmpfs "$0" && exec "$@"`
  return [
    ['unshare', '-m'],
    ['unshare', '-Urm'],
  ]
    .map((unshare) => [...unshare, 'sh', '-c', mount, folder])
    .find(([command, ...args]) => spawnSync(command as string, [...args, 'true']).status === 0)
}

export const NO_SMALL_DISK = 'no small disk: neither `unshare -m` nor `unshare -Urm` may mount a tmpfs here'

/** A command under a limit of the shell, as `ulimit('-f 6000')`. */
export function ulimit(option: string): readonly string[] {
  return ['sh', '-c', `ulimit ${option}; exec "$0" "$@"`]
}

/** Where the Debian package `faketime` puts its library, or what FAKETIME_LIBRARY names. */
export function faketimeLibrary(): string | undefined {
  const named = process.env['FAKETIME_LIBRARY']
  if (named !== undefined) return existsSync(named) ? named : undefined
  const folder = '/usr/lib'
  if (!existsSync(folder)) return undefined
  return readdirSync(folder)
    .map((triplet) => join(folder, triplet, 'faketime', 'libfaketimeMT.so.1'))
    .find((library) => existsSync(library))
}
