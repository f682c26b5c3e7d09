/** Shows what an import will do, and what it could not. */
import type { Plan, PlanRow } from '../../import/plan.ts'
import type { Setting } from '../../import/source.ts'
import { countText, many } from '../output/amounts.ts'
import { line, type Text } from '../output/line.ts'
import type { Output } from '../output/output.ts'

type Features = Readonly<Record<string, string>>

interface Used {
  readonly feature: string
  readonly count: number
  readonly becomes: string
}

export function planJson(name: string, { rows, settings, uses, jobs, flows, schedules, unfit, errors }: Plan, features: Features) {
  return { source: name, plan: { rows, features: usedOf(uses, features), settings, jobs, flows, schedules, unfit, errors } }
}

export function planLines(out: Output, name: string, plan: Plan, features: Features): Text[] {
  const { rows, settings, uses, errors, unfit } = plan
  const used = usedOf(uses, features)
  const more = unfit - errors.length
  return [
    line`${name}`,
    ...out.list<PlanRow>(
      'It has no jobs.',
      [
        { title: 'QUEUE', elastic: true, text: ({ queue }) => queue },
        { title: 'STATE', text: ({ state }) => state },
        { title: 'COUNT', text: ({ count }) => countText(count), right: true },
        { title: 'BECOMES', text: ({ becomes }) => becomes },
      ],
      rows,
    ),
    ...section(out, used, [
      { title: 'FEATURE', text: ({ feature }) => feature },
      { title: 'COUNT', text: ({ count }) => countText(count), right: true },
      { title: 'BECOMES', text: ({ becomes }) => becomes },
    ]),
    ...section<Setting>(out, settings, [
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
export function amountText({ jobs, flows, schedules }: Pick<Plan, 'jobs' | 'flows' | 'schedules'>): string {
  const ofFlows = flows === 0 ? '' : ` (${many(flows, 'flow')})`
  return `${many(jobs, 'job')}${ofFlows}${schedules === 0 ? '' : ` and ${many(schedules, 'schedule')}`}`
}

function usedOf(uses: ReadonlyMap<string, number>, features: Features): Used[] {
  return Object.entries(features).flatMap(([feature, becomes]) => {
    const count = uses.get(feature)
    return count === undefined ? [] : [{ feature, count, becomes }]
  })
}

function section<Row>(out: Output, rows: readonly Row[], columns: Parameters<typeof out.table<Row>>[0]): Text[] {
  return rows.length === 0 ? [] : ['', ...out.table(columns, rows)]
}
