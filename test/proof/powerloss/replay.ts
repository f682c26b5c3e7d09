/** Lets the power fail at every point of a recorded run, in every way, and holds what is found against what was answered by then. */
import { seededRandom } from '@millrace/testkit/internal'
import type { Database } from '../../../packages/sqlite/src/driver.ts'
import { auditOf, jobsOf } from './contents.ts'
import { Disk, type DiskOptions, type Loss, nameOf } from './disk.ts'
import { KEPT_MS } from './driver.ts'
import { Workbench } from './examine.ts'
import { judge } from './ledger.ts'
import type { Recording } from './recording.ts'
import { latest, type Operation } from './trace.ts'

/** Of so many images whose pages are those of a state that the engine has opened already, it opens one again. */
const ENGINE_EVERY = 32

export interface ReplayOptions extends DiskOptions {
  /** `full`: what was answered is there. `normal`: what is there is the beginning of what was. */
  readonly rule: 'full' | 'normal'
  readonly folder: string
  /** Stops after so many images, which are then spread over the whole run. */
  readonly imagesMax?: number
  /** One image alone, as a violation names it. */
  readonly only?: { readonly cut: number; readonly kind: string }
  /** Whether there is no more time. */
  readonly over?: () => boolean
}

export interface Replayed {
  readonly cutPoints: number
  readonly images: number
  /** Of those, opened by the engine itself. */
  readonly engines: number
  /** Images in which something is missing that was answered. */
  readonly lost: number
  /** Images that do not open, are broken, or hold what never was. */
  readonly corrupt: number
  readonly violations: readonly string[]
  /** Images by the way in which the power failed. */
  readonly kinds: Readonly<Record<string, number>>
}

export async function replay(recording: Recording, options: ReplayOptions): Promise<Replayed> {
  const run = new Replay(recording, options)
  await run.all()
  return run.result
}

/** Turns that have left the same content: one that changes nothing is as good as the one before. */
interface Turns {
  readonly first: number
  readonly last: number
}

class Replay {
  readonly #recording: Recording
  readonly #options: ReplayOptions
  readonly #bench: Workbench
  readonly #commits: ReadonlyMap<string, Turns>
  readonly #now: number
  /** What is wrong with a state by itself, found once. */
  readonly #judged = new Map<string, readonly string[]>()
  /** The turns of known pages. */
  readonly #pages: ReadonlyMap<string, number>
  /** Pages with which the engine has opened well, and the turns that they are of. */
  readonly #opened = new Map<string, Turns>()
  readonly result = {
    cutPoints: 0,
    images: 0,
    engines: 0,
    lost: 0,
    corrupt: 0,
    violations: [] as string[],
    kinds: {} as Record<string, number>,
  }

  constructor(recording: Recording, options: ReplayOptions) {
    this.#recording = recording
    this.#options = options
    this.#bench = new Workbench(options.folder)
    this.#now = latest(recording.operations)
    this.#pages = new Map(recording.pages)
    this.#commits = turnsOf(recording.digests)
  }

  async all(): Promise<void> {
    const { operations, seed } = this.#recording
    const { imagesMax = Number.POSITIVE_INFINITY, only, over = () => false } = this.#options
    const disk = new Disk(this.#options)
    const cuts = operations.filter(changes).length + 1
    // About five images a cut point.
    const every = Math.max(1, Math.ceil((cuts * 5) / imagesMax))
    let acknowledged = 0
    let begun = 0
    for (let cut = 0; cut <= operations.length; cut++) {
      const next = operations[cut]
      // Before the next change: whatever was answered meanwhile was answered on the strength of what is there now.
      if (next === undefined || changes(next)) {
        const wanted = only === undefined ? this.result.cutPoints++ % every === 0 || next === undefined : cut === only.cut
        if (wanted) {
          for (const loss of disk.losses(seededRandom(seed * 1_000_003 + cut))) {
            if (only !== undefined && only.kind !== nameOf(loss)) continue
            if (over()) return
            await this.#try(disk, loss, cut, { acknowledged, begun })
          }
        }
      }
      if (next === undefined) break
      disk.apply(next)
      if (next.kind !== 'mark') continue
      if ('acknowledged' in next.mark) acknowledged = next.mark.acknowledged
      if ('begin' in next.mark) begun = next.mark.begin
    }
  }

  async #try(disk: Disk, loss: Loss, cut: number, { acknowledged, begun }: { acknowledged: number; begun: number }): Promise<void> {
    const image = disk.image(loss)
    const kind = nameOf(loss)
    const { result } = this
    result.images++
    result.kinds[loss.kind] = (result.kinds[loss.kind] ?? 0) + 1
    this.#bench.put(image)
    const { durability, seed } = this.#recording
    const place = `--again ${durability} --seed ${seed} --cut ${cut} --kind ${kind}`
    const pages = this.#bench.glance(image)
    const before = pages === undefined ? undefined : this.#opened.get(pages)
    if (before !== undefined && result.images % ENGINE_EVERY !== 0) {
      this.#verdict(place, before, [], { acknowledged, begun })
      return
    }
    result.engines++
    const { digest, problems } = await this.#bench.open(this.#looking)
    const commit = digest === undefined ? undefined : this.#commits.get(digest)
    if (digest !== undefined && commit === undefined) problems.push('holds a state that never was')
    const recorded = pages === undefined ? undefined : this.#pages.get(pages)
    if (recorded !== undefined && (commit === undefined || recorded < commit.first || recorded > commit.last))
      problems.push('has pages of another turn than its content')
    if (pages !== undefined && commit !== undefined && problems.length === 0) this.#opened.set(pages, commit)
    this.#verdict(place, commit, problems, { acknowledged, begun })
  }

  #verdict(
    place: string,
    commit: Turns | undefined,
    problems: readonly string[],
    { acknowledged, begun }: { acknowledged: number; begun: number },
  ): void {
    const { result } = this
    const early = commit !== undefined && commit.first > begun ? [`holds turn ${commit.first}, and only ${begun} had begun`] : []
    const broken = [...new Set([...problems, ...early])]
    if (broken.length > 0) {
      result.corrupt++
      result.violations.push(`${place}: ${broken.slice(0, 4).join('; ')}`)
    } else if (commit !== undefined && commit.last < acknowledged && this.#options.rule === 'full') {
      result.lost++
      result.violations.push(`${place}: holds ${commit.last} turns, and ${acknowledged} had been answered`)
    }
  }

  /** Invariants 1, 2, 6 and 7, for a state that is seen for the first time. */
  readonly #looking = (db: Database, digest: string): readonly string[] => {
    const known = this.#judged.get(digest)
    if (known !== undefined) return known
    const commit = this.#commits.get(digest)
    const problems = [...auditOf(db)]
    if (commit !== undefined)
      problems.push(...judge(this.#recording.calls, jobsOf(db), { commit: commit.last, keptMs: KEPT_MS, now: this.#now }))
    this.#judged.set(digest, problems)
    return problems
  }
}

function turnsOf(digests: readonly string[]): Map<string, Turns> {
  const turns = new Map<string, Turns>()
  for (const [turn, digest] of digests.entries()) turns.set(digest, { first: turns.get(digest)?.first ?? turn, last: turn })
  return turns
}

function changes({ kind }: Operation): boolean {
  return kind === 'write' || kind === 'truncate' || kind === 'sync' || kind === 'delete'
}
