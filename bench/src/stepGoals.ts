/** The goals of handlers that remember, and whether a result keeps them. */
import { ALONE } from './experiments/steps.ts'
import type { Held } from './goals.ts'
import { findRow, type Row } from './result.ts'

const STEPS_PER_SECOND = { normal: 50_000, full: 30_000 } as const
const ALONE_MICROS = 150
const RESUMED_MS = 20
const ASLEEP = { least: 0.95, mb: 5, openMs: 50 } as const
const DUE_MS = 1_000

const most = (what: string, value: number, unit: string, bound: number): Held => {
  const measured = `${value.toFixed(unit === 'ms' ? 1 : 0)} ${unit}`
  return { what, measured, bound: `${Math.round(bound)} ${unit}`, summit: '', met: value <= bound }
}

export function steps(rows: readonly Row[]): readonly Held[] {
  const figure = (label: string, name: string, subject = 'millrace') => findRow(rows, 'steps', subject, label)?.figures[name]
  const sync = figure('full', 'p50Micros', 'one sync')
  return (['normal', 'full'] as const).flatMap((durability) => {
    const speed = figure(durability, 'stepsPerSecond')
    const alone = figure(ALONE[durability], 'p50Micros')
    const least = STEPS_PER_SECOND[durability]
    const micros = durability === 'normal' ? ALONE_MICROS : sync && ALONE_MICROS + sync
    return [
      ...(speed === undefined ? [] : [ofSpeed(`steps, \`${durability}\``, speed, least)]),
      ...(alone === undefined || micros === undefined ? [] : [most(`a lone step, \`${durability}\`: p50`, alone, 'µs', micros)]),
    ]
  })
}

function ofSpeed(what: string, speed: number, least: number): Held {
  const measured = `${Math.round(speed).toLocaleString('en')}/s`
  return { what, measured, bound: `${least.toLocaleString('en')}/s`, summit: '', met: speed >= least }
}

export function resume(rows: readonly Row[]): readonly Held[] {
  return rows
    .filter(({ experiment }) => experiment === 'resume')
    .map(({ label, figures }) => most(`to the next step, behind ${label}: p50`, figures['resumedMs'] as number, 'ms', RESUMED_MS))
}

/** Each row with sleepers beside the row without. */
export function sleepers(rows: readonly Row[]): readonly Held[] {
  let none: Row | undefined
  return rows
    .filter(({ experiment }) => experiment === 'sleepers')
    .flatMap((row) => {
      const { label, ratio, figures } = row
      const due = figures['resumedMs'] === undefined ? [] : [most(`${label}: resumed`, figures['resumedMs'], 'ms', DUE_MS)]
      if (ratio === undefined) none = row
      if (ratio === undefined || due.length > 0) return due
      const over = (name: string) => (figures[name] ?? 0) - (none?.figures[name] ?? 0)
      const [ms, mb] = [over('openMs'), over('rssOpenMb')]
      return [
        { what: label, measured: `${ratio.toFixed(2)} of none asleep`, bound: `${ASLEEP.least}`, summit: '1', met: ratio >= ASLEEP.least },
        {
          what: `${label}: to open`,
          measured: `${Math.round(ms)} ms and ${mb.toFixed(1)} MB more`,
          bound: `flat: ${ASLEEP.openMs} ms, ${ASLEEP.mb} MB`,
          summit: '',
          met: ms <= ASLEEP.openMs && mb <= ASLEEP.mb,
        },
      ]
    })
}
