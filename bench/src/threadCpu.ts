/** What a thread of this process has used of the processor, by its name: from /proc, so on Linux alone. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const TASKS = '/proc/self/task'

/** Nanoseconds on a processor; undefined where the system does not tell, or there is no such thread. */
export function threadCpuNanos(name: string): number | undefined {
  if (!existsSync(TASKS)) return undefined
  for (const task of readdirSync(TASKS)) {
    if (read(`${TASKS}/${task}/comm`).trim() !== name) continue
    const [nanos = ''] = read(`${TASKS}/${task}/schedstat`).split(' ')
    if (nanos !== '') return Number(nanos)
  }
  return undefined
}

/** A thread may end between being listed and being read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
