/**
 * A disk with a cache: what a sync has confirmed is there for good; what came since may be there or not when the power fails, whole
 * or in part. The names in the folder are such a thing of their own: SQLite syncs the folder with the first sync of a new log.
 */
import type { Operation } from './trace.ts'

const SECTOR_BYTES = 512
/** SQLite's flags of an opening. */
const CREATE = 0x4
const JOURNAL_OR_LOG = 0x800 | 0x80000
const EMPTY = Buffer.alloc(0)

type Change = { readonly offset: number; readonly data: Uint8Array } | { readonly size: number }

type Named = readonly [file: string, inode: Inode | undefined]

interface Inode {
  durable: Buffer
  /** Since the last sync, in order. */
  pending: Change[]
  /** Its first sync makes the folder durable too. */
  syncsFolder: boolean
}

/** The files of a folder by their names. */
export type Image = ReadonlyMap<string, Buffer>

/** How much of the unsynced is there. */
export type Loss =
  | { readonly kind: 'none' }
  | { readonly kind: 'all' }
  /** In order, and of the last write so much. */
  | { readonly kind: 'torn'; readonly fraction: number }
  /** Any of its sectors, and of the changes to the folder. */
  | { readonly kind: 'sectors'; readonly random: () => number }
  /** All of one file, nothing of the others. */
  | { readonly kind: 'only'; readonly file: string }
  /** All data, under the names that the folder had when it was last synced. */
  | { readonly kind: 'names' }

/** Returns how a violation names it. */
export function nameOf(loss: Loss): string {
  if (loss.kind === 'torn') return `torn-${loss.fraction}`
  return loss.kind === 'only' ? `only-${loss.file}` : loss.kind
}

export interface DiskOptions {
  /** A disk that lies: nothing is ever confirmed. */
  readonly ignoreSyncs?: boolean
}

export class Disk {
  readonly #files = new Map<string, Inode>()
  readonly #durableNames = new Map<string, Inode>()
  /** What was opened by each name last: it is written further when the name is gone, or is another file's. */
  readonly #opened = new Map<string, Inode>()
  /** Changes of names since the folder was last synced, in order. Those of one change survive together. */
  #renamed: (readonly Named[])[] = []
  readonly #ignoreSyncs: boolean
  /** The file of the last change, where it was a write. */
  #lastWrite: Inode | undefined

  constructor({ ignoreSyncs = false }: DiskOptions = {}) {
    this.#ignoreSyncs = ignoreSyncs
  }

  apply(operation: Operation): void {
    switch (operation.kind) {
      case 'open':
        this.#open(operation.file, operation.flags)
        return
      case 'write':
        this.#lastWrite = this.#find(operation.file)
        this.#lastWrite.pending.push({ offset: operation.offset, data: operation.data })
        return
      case 'truncate':
        this.#lastWrite = undefined
        this.#find(operation.file).pending.push({ size: operation.size })
        return
      case 'sync':
        this.#lastWrite = undefined
        this.#sync(this.#find(operation.file))
        return
      case 'delete':
        this.#lastWrite = undefined
        if (this.#files.has(operation.file)) this.#rename([operation.file, undefined])
        if (operation.flags !== 0) this.#syncFolder()
        return
      case 'link':
        this.#rename([operation.file, this.#named(operation.from)])
        return
      case 'rename':
        this.#rename([operation.from, undefined], [operation.file, this.#named(operation.from)])
        return
      case 'syncFolder':
        this.#syncFolder()
        return
      default:
        return
    }
  }

  /** The ways in which the power can fail here that differ from each other. */
  losses(random: () => number): Loss[] {
    const pending = [...this.#files].filter(([, inode]) => inode.pending.length > 0).map(([file]) => file)
    if (pending.length === 0 && this.#renamed.length === 0) return [{ kind: 'all' }]
    const losses: Loss[] = [{ kind: 'all' }, { kind: 'none' }, { kind: 'sectors', random }]
    if (this.#lastWrite !== undefined) losses.push(...[0.15, 0.5, 0.85].map((fraction): Loss => ({ kind: 'torn', fraction })))
    if (pending.length > 1) losses.push(...pending.map((file): Loss => ({ kind: 'only', file })))
    if (this.#renamed.length > 0) losses.push({ kind: 'names' })
    return losses
  }

  image(loss: Loss): Image {
    const image = new Map<string, Buffer>()
    for (const [file, inode] of this.#names(loss)) image.set(file, this.#content(file, inode, loss))
    return image
  }

  #names(loss: Loss): ReadonlyMap<string, Inode> {
    if (loss.kind === 'none' || loss.kind === 'names') return this.#durableNames
    if (loss.kind !== 'sectors') return this.#files
    const names = new Map(this.#durableNames)
    for (const change of this.#renamed) if (loss.random() >= 0.5) setNames(names, change)
    return names
  }

  #content(file: string, inode: Inode, loss: Loss): Buffer {
    const { durable, pending } = inode
    switch (loss.kind) {
      case 'none':
        return durable
      case 'only':
        return loss.file === file ? render(durable, pending) : durable
      case 'torn':
        return inode === this.#lastWrite ? torn(durable, pending, loss.fraction) : render(durable, pending)
      case 'sectors':
        return someSectors(durable, pending, loss.random)
      default:
        return render(durable, pending)
    }
  }

  #open(file: string, flags: number): void {
    if (!this.#files.has(file)) {
      if ((flags & CREATE) === 0) throw new Error(`${file} was opened, and nothing had created it`)
      this.#rename([file, { durable: EMPTY, pending: [], syncsFolder: (flags & JOURNAL_OR_LOG) !== 0 }])
    }
    this.#opened.set(file, this.#named(file))
  }

  #find(file: string): Inode {
    const inode = this.#opened.get(file)
    if (inode === undefined) throw new Error(`${file} was written, and nobody had opened it`)
    return inode
  }

  #named(file: string): Inode {
    const inode = this.#files.get(file)
    if (inode === undefined) throw new Error(`${file} was given another name, and is not there`)
    return inode
  }

  #rename(...change: readonly Named[]): void {
    setNames(this.#files, change)
    this.#renamed.push(change)
  }

  #sync(inode: Inode): void {
    if (this.#ignoreSyncs) return
    inode.durable = render(inode.durable, inode.pending)
    inode.pending = []
    if (inode.syncsFolder) this.#syncFolder()
    inode.syncsFolder = false
  }

  #syncFolder(): void {
    if (this.#ignoreSyncs) return
    for (const change of this.#renamed) setNames(this.#durableNames, change)
    this.#renamed = []
  }
}

function setNames(names: Map<string, Inode>, change: readonly Named[]): void {
  for (const [file, inode] of change) {
    if (inode === undefined) names.delete(file)
    else names.set(file, inode)
  }
}

/** The content once all changes have been made. */
function render(durable: Buffer, pending: readonly Change[]): Buffer {
  if (pending.length === 0) return durable
  let size = durable.length
  let most = size
  for (const change of pending) {
    size = 'size' in change ? change.size : Math.max(size, change.offset + change.data.length)
    most = Math.max(most, size)
  }
  const content = Buffer.alloc(most)
  durable.copy(content)
  let end = durable.length
  for (const change of pending) {
    if ('size' in change) {
      // What is cut off is zeros if the file grows again.
      if (change.size < end) content.fill(0, change.size, end)
      end = change.size
    } else {
      content.set(change.data, change.offset)
      end = Math.max(end, change.offset + change.data.length)
    }
  }
  return content.subarray(0, size)
}

/** The last write got as far as a sector's end. */
function torn(durable: Buffer, pending: readonly Change[], fraction: number): Buffer {
  const last = pending.at(-1)
  if (last === undefined || 'size' in last) throw new Error('nothing to tear')
  const reached = last.offset + last.data.length * fraction
  const kept = Math.floor(reached / SECTOR_BYTES) * SECTOR_BYTES - last.offset
  const before = pending.slice(0, -1)
  return render(durable, kept > 0 ? [...before, { offset: last.offset, data: last.data.subarray(0, kept) }] : before)
}

/** Each sector that was written is as it is now or as it was, and so is the end of the file. */
function someSectors(durable: Buffer, pending: readonly Change[], random: () => number): Buffer {
  if (pending.length === 0) return durable
  const now = render(durable, pending)
  const sectors = new Set<number>()
  for (const change of pending) {
    if ('size' in change) continue
    const last = Math.floor((change.offset + change.data.length - 1) / SECTOR_BYTES)
    for (let sector = Math.floor(change.offset / SECTOR_BYTES); sector <= last; sector++) sectors.add(sector)
  }
  const content = Buffer.alloc(Math.max(durable.length, now.length))
  durable.copy(content)
  let end = durable.length
  for (const sector of sectors) {
    if (random() < 0.5) continue
    const start = sector * SECTOR_BYTES
    const stop = Math.min(start + SECTOR_BYTES, now.length)
    if (stop <= start) continue
    now.copy(content, start, start, stop)
    end = Math.max(end, stop)
  }
  if (now.length < durable.length && random() < 0.5) end = now.length
  return content.subarray(0, end)
}
