/** A real cable, pulled for ten seconds: between network namespaces of Linux, where this system has them to give. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Program, startProgram } from '../program.ts'
import { temporaryFile } from '../temporary.ts'
import { network } from './network.ts'

const CUT_MS = 10_000
const certificates = fileURLToPath(new URL('./certificates', import.meta.url))
const token = 'a token for the tests'
const program = (name: string, args: readonly string[], within: readonly string[]) =>
  startProgram(new URL(`./programs/${name}.ts`, import.meta.url), args, within)

/** When a program has said that, on the clock of the machine. */
async function at(from: Program, line: RegExp): Promise<number> {
  return Number((await from.said(line)).split('@')[1])
}

test('a worker that is cut off for ten seconds keeps what it may be silent for, and ends the rest before another begins it', {
  timeout: 60_000,
}, async ({ skip }) => {
  const net = network()
  if (typeof net === 'string') return skip(`not on this machine: ${net}`)
  const server = program('tlsServer', [temporaryFile(), net.server.address, token, certificates], net.server.within)
  const url = await server.said(/^tls:/)
  const worker = program('tlsWorker', [url, token, certificates], net.worker.within)
  await worker.said(/^working/)
  const order = (line: string) => server.child.stdin.write(`${line}\n`)
  order('enqueue patient')
  order('enqueue short')
  await worker.said(/^running patient 1 /)
  await worker.said(/^running short 1 /)
  order('work short')

  net.cut()
  const cut = new Promise<void>((resolve) => setTimeout(resolve, CUT_MS))
  const begun = await at(server, /^started short 2 /)
  const aborted = await at(worker, /^aborted short 1 LEASE_LOST /)
  expect(aborted).toBeLessThan(begun)
  await server.said(/^completed short 2 /)
  await cut
  expect(server.lines.filter((line) => / patient /.test(line) && !/^(enqueued|started) patient [01] /.test(line))).toEqual([])
  net.heal()

  worker.child.stdin.write('finish\n')
  await server.said(/^completed patient 1 /)
  expect(worker.lines.filter((line) => line.startsWith('running'))).toHaveLength(2)
  expect(server.lines.filter((line) => line.startsWith('started patient'))).toHaveLength(1)
  // What the worker has said of the run that it had lost came before.
  expect(server.lines.filter((line) => line.startsWith('completed short'))).toHaveLength(1)
})
