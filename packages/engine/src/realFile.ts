/**
 * The one path of a file, whatever links lead to it, also before it is there: what processes on one file have in common. As the store's
 * own, which only the writer's thread loads.
 */
import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** As Linux follows: links that lead in a circle lead nowhere. */
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
