/**
 * Returns the one path of a file, whatever links lead to it, even before the file exists: the same for all processes on
 * one file. It works like the store's own function, which only the writer thread loads.
 */
import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** The maximum number of links, as in Linux: links in a circle lead nowhere. */
const LINKS_MAX = 40

export function realFile(file: string, linksMax = LINKS_MAX): string {
  const real = attempt(() => realpathSync(file))
  if (real !== undefined) return real
  const target = linksMax > 0 ? attempt(() => readlinkSync(file)) : undefined
  if (target !== undefined) return realFile(resolve(dirname(file), target), linksMax - 1)
  return attempt(() => join(realpathSync(dirname(file)), basename(file))) ?? file
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
