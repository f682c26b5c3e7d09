/** The example dashboard is one, and asks for nothing but what its own variables and this app's metrics name. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly { readonly expr: string }[]
}

const text = readFileSync(new URL('../../apps/millrace/dashboards/grafana.json', import.meta.url), 'utf8')
const { panels, templating } = JSON.parse(text) as { panels: readonly Panel[]; templating: { list: readonly { name: string }[] } }

/** Families of `GET /metrics`, a counter with its `_total`, a histogram by its `_bucket`. */
const FAMILIES = [
  'millrace_jobs',
  'millrace_jobs_enqueued_total',
  'millrace_jobs_completed_total',
  'millrace_jobs_failed_total',
  'millrace_jobs_cancelled_total',
  'millrace_queue_paused',
  'millrace_queue_oldest_waiting_seconds',
  'millrace_runs_failed_total',
  'millrace_job_wait_seconds_bucket',
  'millrace_job_run_seconds_bucket',
  'millrace_unserved_jobs',
  'millrace_workers',
  'millrace_writer_turns_total',
  'millrace_writer_failed_turns_total',
  'millrace_writer_reloads_total',
  'millrace_writer_turn_commands',
  'millrace_writer_commit_seconds',
  'millrace_writer_mailbox_commands',
  'millrace_writer_wal_bytes',
  'millrace_writer_journal_bytes',
  'millrace_writer_draining',
]

const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

test('Q7: every panel asks for metrics that there are, and every family is shown', () => {
  const asked = new Set(expressions.flatMap((expr) => expr.match(/millrace_\w+/g) ?? []))
  expect([...asked].toSorted()).toEqual(FAMILIES.toSorted())
})

test('buckets are added up by their bound, over instances and queues, before a quantile is made of them', () => {
  for (const expr of expressions.filter((each) => each.includes('_bucket')))
    expect(expr).toMatch(/^histogram_quantile\(0\.\d+, sum by \(name, le\) \(rate\(\w+\{.*\}\[\$__rate_interval\]\)\)\)$/)
})

test('variables that are used are there, and every panel has one of an instance', () => {
  const known = templating.list.map(({ name }) => name)
  const used = new Set([...text.matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name))
  expect([...used].filter((name) => !known.includes(name as string))).toEqual([])
  for (const expr of expressions) expect(expr).toContain('instance=~"$instance"')
})

test('panels have a number each, and none lies on another', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(Math.max(...panels.map(({ gridPos }) => gridPos.x + gridPos.w))).toBe(24)
})
