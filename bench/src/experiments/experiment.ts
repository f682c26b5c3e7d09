/** An experiment asks one thing of several systems under several settings, side by side. */
import type { Settings } from '../measurement.ts'
import type { Plan } from '../plan.ts'
import type { Omission } from '../result.ts'

/** One system under one setting. */
export interface Cell {
  readonly subject: string
  readonly label: string
  readonly scenario: string
  readonly settings: Partial<Settings>
  /** The cell of the same group that its headline is held against. */
  readonly against?: { readonly subject: string; readonly label: string }
  readonly note?: string
}

export interface Experiment {
  readonly name: string
  /** One sentence for the table. */
  readonly what: string
  /** The figure that is held against others. */
  readonly headline: string
  /** What the ratio is a share of. */
  readonly ratioTitle: string
  /** Figures in the table beside the headline. */
  readonly columns: readonly string[]
  /** Measured once, however many repetitions are asked for: it is long, and looks at itself over time. */
  readonly once?: boolean
  /** The cells of a group take turns, repetition by repetition. */
  groups(plan: Plan): readonly (readonly Cell[])[]
  /** What is not measured, and why. */
  omissions?(plan: Plan): readonly Omission[]
}

export const DURABILITIES = ['normal', 'full'] as const
