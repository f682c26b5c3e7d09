/** What a stretch of work took: time, and the processor's time by thread, per job. */
import type { Figures } from './measurement.ts'
import { threadCpuNanos } from './threadCpu.ts'

const WRITER = 'millrace-writer'
const MIB = 2 ** 20
const KIB_PER_MIB = 1_024

/** Call the answer when the work is done. */
export function startMeter(): (jobs: number) => Figures {
  const writerNanos = threadCpuNanos(WRITER)
  const main = process.threadCpuUsage()
  const whole = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  const beginMs = performance.now()
  return (jobs) => {
    const seconds = (performance.now() - beginMs) / 1_000
    const mainMicros = spent(process.threadCpuUsage(main))
    const processMicros = spent(process.cpuUsage(whole))
    const { utilization } = performance.eventLoopUtilization(loop)
    const writerEndNanos = threadCpuNanos(WRITER)
    return {
      jobsPerSecond: jobs / seconds,
      seconds,
      mainMicrosPerJob: mainMicros / jobs,
      ...(writerNanos !== undefined &&
        writerEndNanos !== undefined && { writerMicrosPerJob: (writerEndNanos - writerNanos) / 1_000 / jobs }),
      processMicrosPerJob: processMicros / jobs,
      mainUtilization: utilization,
      ...memory(),
    }
  }
}

/** What the process has now, and the most it ever had. */
export function memory(): Figures {
  return { rssMb: process.memoryUsage.rss() / MIB, rssPeakMb: process.resourceUsage().maxRSS / KIB_PER_MIB }
}

function spent({ user, system }: { readonly user: number; readonly system: number }): number {
  return user + system
}
