/**
 * Loaded before a program and in each of its threads: the writer thread stands still for as many milliseconds as it is told on the
 * channel `stall`, as while a disk does not answer.
 */
import { BroadcastChannel, threadName } from 'node:worker_threads'

if (threadName === 'millrace-writer') {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const channel = new BroadcastChannel('stall')
  channel.onmessage = (event) => {
    Atomics.wait(cell, 0, 0, (event as { data: number }).data)
  }
  channel.unref()
}
