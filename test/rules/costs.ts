/**
 * The most that the files of a folder may start, open and wait for in one `pnpm test`. A run that is above a row fails, and names the file.
 * A kind that a row leaves out is 0. Before you raise a figure: can the test share what another has started, or ask at a lower level?
 */
import type { Cost } from '../cost/cost.ts'

export const KINDS = ['processes', 'threads', 'pages', 'schemas', 'waits'] as const
export type Kind = (typeof KINDS)[number]

export const COSTS: Readonly<Record<string, Partial<Pick<Cost, Kind>>>> = {}
