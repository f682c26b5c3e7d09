/** What threads of this process have used of the processor, by their name: from /proc, so on Linux alone. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const TASKS = '/proc/self/task'

/** Nanoseconds on a processor, of all threads of that name together; undefined where the system does not tell, or there is none. */
export function threadCpuNanos(name: string): number | undefined {
  if (!existsSync(TASKS)) return undefined
  let all: number | undefined
  for (const task of readdirSync(TASKS)) {
    if (read(`${TASKS}/${task}/comm`).trim() !== name) continue
    const [nanos = ''] = read(`${TASKS}/${task}/schedstat`).split(' ')
    if (nanos !== '') all = (all ?? 0) + Number(nanos)
  }
  return all
}

/** A thread may end between being listed and being read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
