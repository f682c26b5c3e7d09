/** Which files have the same content, and what keeping one of each would save. */

export interface HashedFile {
  readonly path: string
  readonly sha256: string
  readonly size: number
  /** Device and inode, where the file has several names: those share their bytes already. */
  readonly inode?: string | undefined
}

export interface DuplicateGroup {
  readonly size: number
  /** Sorted. */
  readonly paths: readonly string[]
  readonly savings: number
}

/** Largest savings first. Hard links to one file are one copy; empty files save nothing. */
export function findDuplicates(files: Iterable<HashedFile>): DuplicateGroup[] {
  const byContent = new Map<string, HashedFile[]>()
  for (const file of files) {
    const same = byContent.get(file.sha256)
    if (same === undefined) byContent.set(file.sha256, [file])
    else same.push(file)
  }
  return [...byContent.values()]
    .map(groupOf)
    .filter(({ savings }) => savings > 0)
    .sort((a, b) => b.savings - a.savings || compare(a.paths[0], b.paths[0]))
}

function groupOf(files: readonly HashedFile[]): DuplicateGroup {
  const size = files[0]?.size ?? 0
  const copies = new Set(files.map(({ inode, path }) => inode ?? path)).size
  return { size, paths: files.map(({ path }) => path).sort(compare), savings: size * (copies - 1) }
}

/** By code unit, the same on every machine. */
function compare(a = '', b = ''): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
