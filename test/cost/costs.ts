/** Prints the costs of a run's files as a table, and compares them with test/rules/costs.ts. */
import type { TestModule } from 'vitest/node'
import { COSTS, KINDS, type Kind } from '../rules/costs.ts'
import type { Cost } from './cost.ts'

interface Spent {
  readonly file: string
  readonly folder: string
  readonly cases: number
  readonly ms: number
  readonly cost: Cost
}

/** Returns a line for each folder whose files cost more than its row allows, with the dearest of them. */
export function tooDear(modules: readonly TestModule[]): string[] {
  const lines: string[] = []
  const measured = modules.filter(({ project }) => !project.name.startsWith('proof')).flatMap(spentOf)
  for (const [folder, files] of Object.entries(Object.groupBy(measured, (spent) => spent.folder))) {
    const allowed = COSTS[folder] ?? {}
    for (const kind of KINDS) {
      const most = allowed[kind] ?? 0
      const all = sum(files, kind)
      if (all <= most) continue
      const dearest = (files ?? []).filter(({ cost }) => cost[kind] > 0).toSorted((a, b) => b.cost[kind] - a.cost[kind])
      const named = dearest.slice(0, 3).map(({ file, cost }) => `${file} ${cost[kind]}`)
      lines.push(`too dear: ${folder} has ${all} ${kind}, and test/rules/costs.ts allows ${most}: ${named.join(', ')}`)
    }
  }
  return lines
}

/** Returns a table with a row for each folder, and one for each of the dearest files. */
export function costTable(modules: readonly TestModule[]): string[] {
  const measured = modules.flatMap(spentOf)
  const row = (name: string, files: readonly Spent[]) => {
    const total = (of: (spent: Spent) => number) => files.reduce((all, spent) => all + of(spent), 0)
    const counts = KINDS.map((kind) => sum(files, kind))
    return [name, total(({ cases }) => cases), seconds(total(({ ms }) => ms)), seconds(total(({ cost }) => cost.cpuMs)), ...counts]
  }
  const byCpu = (a: Spent, b: Spent) => b.cost.cpuMs - a.cost.cpuMs
  const folders = Object.entries(Object.groupBy(measured, (spent) => spent.folder)).map(([folder, files = []]) => ({ folder, files }))
  const cpuOf = ({ files }: { readonly files: readonly Spent[] }) => files.reduce((all, { cost }) => all + cost.cpuMs, 0)
  return [
    ['folder or file', 'cases', 'clock s', 'processor s', ...KINDS],
    ...folders.toSorted((a, b) => cpuOf(b) - cpuOf(a)).map(({ folder, files }) => row(folder, files)),
    ...measured
      .toSorted(byCpu)
      .slice(0, 30)
      .map((spent) => row(spent.file, [spent])),
    row('all', measured),
  ].map((cells) => cells.map((cell, at) => (at === 0 ? String(cell).padEnd(52) : String(cell).padStart(11))).join(' '))
}

const sum = (files: readonly Spent[] = [], kind: Kind): number => files.reduce((all, { cost }) => all + cost[kind], 0)
const seconds = (ms: number): string => (ms / 1000).toFixed(1)

function spentOf(module: TestModule): Spent[] {
  const { cost } = module.meta()
  const file = module.relativeModuleId
  // `packages/core`, `apps/millrace`, `test/engine`.
  const folder = file.split('/').slice(0, 2).join('/')
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  const cases = [...module.children.allTests()].length
  return cost === undefined ? [] : [{ file, folder, cases, ms: duration + collectDuration + setupDuration, cost }]
}
