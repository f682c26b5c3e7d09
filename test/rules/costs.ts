/**
 * The most that the files of a folder may start, open and wait for in one `pnpm test`. A run that is above a row fails, and names the files.
 * A kind that a row leaves out is 0. Figures are a tenth above those of a run, or more if the folder tries a sample. Before you raise one: can
 * the test share what another has started, or ask at a lower level?
 */
import type { Cost } from '../cost/cost.ts'

export const KINDS = ['processes', 'threads', 'pages', 'schemas', 'waits'] as const
export type Kind = (typeof KINDS)[number]

export const COSTS: Readonly<Record<string, Partial<Pick<Cost, Kind>>>> = {
  'apps/create-millrace': { processes: 2 },
  'apps/millrace': { processes: 1, threads: 60 },
  'packages/engine': { threads: 13 },
  'packages/exec': { processes: 39 },
  'packages/http': { threads: 45 },
  'packages/import': { processes: 1 },
  'packages/remote': { processes: 3 },
  'packages/sqlite': { processes: 50 },
  'packages/testkit': { threads: 2 },
  'packages/webhooks': { threads: 8 },
  'packages/worker': { processes: 25, threads: 38 },
  'test/app': { processes: 45, threads: 185 },
  'test/browser': { processes: 14, threads: 5, pages: 35 },
  'test/cost': { processes: 1 },
  'test/dashboard': { processes: 12, threads: 35, pages: 139 },
  'test/demo': { processes: 3, threads: 24 },
  'test/engine': { processes: 24, threads: 160 },
  'test/examples': { processes: 32, threads: 3 },
  'test/exec': { processes: 39, threads: 9 },
  'test/failures': { processes: 20, threads: 92 },
  'test/frameworks': { processes: 2, threads: 11 },
  'test/http': { threads: 2 },
  'test/kubernetes': { processes: 9 },
  'test/outbox': { threads: 2 },
  'test/ports': { threads: 290 },
  'test/postgres': { processes: 49, threads: 110, schemas: 65 },
  'test/remote': { processes: 3, threads: 110 },
  'test/rules': { processes: 5 },
  'test/run': { processes: 2 },
  'test/security': { processes: 9, threads: 4 },
  'test/share': { processes: 14, threads: 20 },
  'test/snippets': { processes: 2, threads: 9 },
  'test/start': { processes: 5 },
  'test/webhooks': { processes: 4, threads: 6 },
  'test/wire': { processes: 27, threads: 20 },
}
