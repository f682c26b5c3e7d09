/**
 * Enqueues numbers through a journal, and tells which it has been answered: `producer.ts SOCKET FOLDER FIRST COUNT [STEP TIMES]`. Then
 * stays until it is killed; with a COUNT of 0 until all that the folder holds is forwarded. Numbers that end in 7 are refused, for as
 * long as the key is another job's.
 */
import { connect } from '@millrace/remote'
import { dieAt, type Step } from './dieAt.ts'
import { quick } from './jobs.ts'

const [socket = '', folder = '', first = '', count = '', step, times = ''] = process.argv.slice(2)
if (step !== undefined) dieAt(step as Step, Number(times))
const engine = await connect(`unix:${socket}`, { journal: folder, reconnect: { minDelay: 1, maxDelay: 20 } })
const enqueue = async (number: number) => {
  await engine.enqueue(quick, number, number % 10 === 7 ? { unique: { key: 'taken', onConflict: 'error' } } : {})
  process.stdout.write(`${number}\n`)
}
const [from, until] = [Number(first), Number(first) + Number(count)]
for (let number = from; number < until; number += 5) {
  await Promise.all(Array.from({ length: Math.min(5, until - number) }, (_, index) => enqueue(number + index)))
}
if (from === until) {
  // Answered when there is a server.
  await engine.stats()
  await engine.stop()
} else setInterval(() => {}, 1e9)
