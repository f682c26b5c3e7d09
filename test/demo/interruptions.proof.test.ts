import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { findings, runDemo, startDemo } from './demoProcess.ts'
import { createWorkplace, type Workplace } from './workplace.ts'

const KILLS = 6

/** A few thousand files: every third has copies. */
function fill({ write }: Workplace): void {
  for (let index = 0; index < 4_000; index++) {
    const content = index % 3 === 0 ? `copy ${index % 150}` : `only ${index}`
    write(`${index % 7}/${index % 41}/${index}`, content.padEnd(index % 900, '.'))
  }
}

test(`killed ${KILLS} times at random points, it ends with the report of an undisturbed run`, { timeout: 120_000 }, async () => {
  const workplace = createWorkplace()
  const { folder, cwd } = workplace
  fill(workplace)
  const first = startDemo([folder, '--file', 'undisturbed.db'], cwd)
  await first.said(/\n/)
  const startMono = performance.now()
  const undisturbed = await first.ended
  const ms = performance.now() - startMono
  expect(undisturbed.code).toBe(0)

  const done: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const demo = startDemo([folder], cwd)
    await demo.said(/\n/)
    // Between them they take half of the time that it needs, on average; at the very most all of it.
    await setTimeout((Math.random() * ms) / KILLS)
    demo.child.kill('SIGKILL')
    const { signal, stderr } = await demo.ended
    expect(signal, stderr).toBe('SIGKILL')
    done.push(Number(/Continuing after ([\d,]+) jobs/.exec(stderr)?.[1]?.replace(',', '') ?? 0))
  }
  const last = await runDemo([folder], cwd)

  expect(last.code, last.stderr).toBe(0)
  expect(last.stderr).toMatch(/^Continuing after /)
  expect(done).toEqual(done.toSorted((a, b) => a - b))
  expect(findings(last.stdout)).toBe(findings(undisturbed.stdout))
  expect(last.stdout).toMatch(/ jobs per second since the run was continued; [\d,]+ jobs in all\n$/)
})

test('Ctrl-C stops it gracefully, says how to continue, and what is done is kept', async () => {
  const workplace = createWorkplace()
  const { folder, cwd } = workplace
  fill(workplace)
  const undisturbed = await runDemo([folder, '--file', 'undisturbed.db'], cwd)

  const demo = startDemo([folder], cwd)
  await demo.said(/\n/)
  demo.child.kill('SIGINT')
  const { code, stdout, stderr } = await demo.ended
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
  expect(stderr).toMatch(/\ndemo: stopped: what is done is kept in .+; run the same command again to continue\n$/)

  const continued = await runDemo([folder], cwd)
  expect(continued.stderr).toMatch(/^Continuing after /)
  expect(continued.code).toBe(0)
  expect(findings(continued.stdout)).toBe(findings(undisturbed.stdout))
})
