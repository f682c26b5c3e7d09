// apps/millrace/dashboards/alerts.yml: Prometheus takes the rules, each fires for what it names and not for its bystanders, and the guide has all.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const RULES = fileURLToPath(new URL('../../apps/millrace/dashboards/alerts.yml', import.meta.url))
const rules = readFileSync(RULES, 'utf8')
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const alerts = [...rules.matchAll(/- alert: (\w+)$/gm)].map(([, name]) => name)

test('the guide has each alert, in the order of the rules', () => {
  expect(alerts.length).toBeGreaterThan(8)
  expect([...read('../../docs/alerts.md').matchAll(/^\| `(Millrace\w+)` \|/gm)].map(([, name]) => name)).toEqual(alerts)
})

test('each alert is fired by a test of Prometheus', ({ skip }) => {
  if (spawnSync('promtool', ['--version']).status !== 0) skip('no promtool: it comes with Prometheus')
  const cases = read('programs/alerts.yml')
  for (const alert of alerts) expect(cases).toContain(`alertname: ${alert}\n        exp_alerts:\n          - `)
  const file = `${temporaryFolder()}/alerts.yml`
  writeFileSync(file, cases.replace('RULES', RULES))
  for (const args of [
    ['check', 'rules', RULES],
    ['test', 'rules', file],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  }
})
