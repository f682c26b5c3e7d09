/** What each figure is called, and which way is better. */

export interface Figure {
  readonly title: string
  readonly better: 'higher' | 'lower' | 'neither'
  readonly digits: number
}

const figure = (title: string, better: Figure['better'], digits: number): Figure => ({ title, better, digits })

const FIGURES: Readonly<Record<string, Figure>> = {
  jobsPerSecond: figure('jobs/s', 'higher', 0),
  jobsPerSecondAlone: figure('jobs/s without', 'higher', 0),
  stepsPerSecond: figure('steps/s', 'higher', 0),
  resumedMs: figure('resumed ms', 'lower', 1),
  resumedP99Ms: figure('resumed p99 ms', 'lower', 1),
  ofNone: figure('of the speed without', 'higher', 2),
  mainMicrosPerJob: figure('main thread µs/job', 'lower', 1),
  mainMicrosPerJobAlone: figure('without', 'lower', 1),
  writerMicrosPerJob: figure('writer thread µs/job', 'lower', 1),
  writerMicrosPerJobAlone: figure('without', 'lower', 1),
  workersMicrosPerJob: figure('worker processes µs/job', 'lower', 1),
  processMicrosPerJob: figure('process µs/job', 'lower', 1),
  mainUtilization: figure('main loop busy', 'lower', 2),
  rssPeakMb: figure('RSS peak MB', 'lower', 0),
  rssOpenMb: figure('RSS opened MB', 'lower', 0),
  idleWorkersMb: figure('idle workers MB', 'lower', 0),
  openMs: figure('open ms', 'lower', 0),
  fileBytesPerJob: figure('file bytes/job', 'lower', 0),
  turnSizeP50: figure('commands/turn p50', 'neither', 0),
  commitP99Ms: figure('commit p99 ms', 'lower', 1),
  p50Micros: figure('p50 µs', 'lower', 0),
  p99Micros: figure('p99 µs', 'lower', 0),
  freeStartsMs: figure('starts after ms', 'lower', 0),
  delayP50Ms: figure('delay p50 ms', 'lower', 2),
  delayP99Ms: figure('delay p99 ms', 'lower', 2),
  delayMaxMs: figure('delay max ms', 'lower', 1),
  jobs: figure('jobs', 'neither', 0),
  keptJobs: figure('jobs kept', 'neither', 0),
  firstFifthPerSecond: figure('first fifth jobs/s', 'higher', 0),
  lastFifthPerSecond: figure('last fifth jobs/s', 'higher', 0),
  turnP99Ms: figure('turn p99 ms', 'lower', 1),
  turnP99MaxMs: figure('turn p99 at worst ms', 'lower', 1),
  fileHalfMb: figure('file at half MB', 'lower', 0),
  fileMb: figure('file at end MB', 'lower', 0),
  walMaxMb: figure('WAL at most MB', 'lower', 0),
  rssHalfMb: figure('RSS at half MB', 'lower', 0),
  rssMb: figure('RSS at end MB', 'lower', 0),
}

export function figureOf(name: string): Figure {
  return FIGURES[name] ?? figure(name, 'neither', 1)
}

export function formatFigure(name: string, value: number | undefined): string {
  if (value === undefined) return ''
  const digits = figureOf(name).digits
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
