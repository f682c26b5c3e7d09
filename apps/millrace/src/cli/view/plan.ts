/** Shows what an import will do, and what it could not. */
import type { ImportPlan } from '@millrace/import'
import { countText, many } from '../output/amounts.ts'
import { line, type Text } from '../output/line.ts'
import type { Output } from '../output/output.ts'

type Row<Table extends 'rows' | 'features' | 'settings'> = ImportPlan[Table][number]

export function planLines(out: Output, source: string, { rows, features, settings, errors, unfit }: ImportPlan): Text[] {
  const more = unfit - errors.length
  return [
    line`${source}`,
    ...out.list<Row<'rows'>>(
      'It has no jobs.',
      [
        { title: 'QUEUE', elastic: true, text: ({ queue }) => queue },
        { title: 'STATE', text: ({ state }) => state },
        { title: 'COUNT', text: ({ count }) => countText(count), right: true },
        { title: 'BECOMES', text: ({ becomes }) => becomes },
      ],
      rows,
    ),
    ...section<Row<'features'>>(out, features, [
      { title: 'FEATURE', text: ({ feature }) => feature },
      { title: 'COUNT', text: ({ count }) => countText(count), right: true },
      { title: 'BECOMES', text: ({ becomes }) => becomes },
    ]),
    ...section<Row<'settings'>>(out, settings, [
      { title: 'SETTING', text: ({ queue, what }) => `${queue}: ${what}` },
      { title: 'NOT IMPORTED: SET IT FIRST', text: ({ command }) => command },
    ]),
    ...(errors.length === 0 ? [] : ['', 'Not imported:', ...errorLines(errors)]),
    ...(more > 0 ? [`and ${many(more, 'other')}`] : []),
    '',
  ]
}

export function errorLines(errors: readonly { readonly id: string; readonly message: string }[]): Text[] {
  return errors.map(({ id, message }) => line`${id}: ${message}`)
}

/** Formats the numbers that are not 0, the jobs always. */
export function amountText({ jobs, flows, schedules }: Pick<ImportPlan, 'jobs' | 'flows' | 'schedules'>): string {
  const ofFlows = flows === 0 ? '' : ` (${many(flows, 'flow')})`
  return `${many(jobs, 'job')}${ofFlows}${schedules === 0 ? '' : ` and ${many(schedules, 'schedule')}`}`
}

function section<Item>(out: Output, rows: readonly Item[], columns: Parameters<typeof out.table<Item>>[0]): Text[] {
  return rows.length === 0 ? [] : ['', ...out.table(columns, rows)]
}
