/** The report as text. What is the same for every run comes first; what depends on time is the last section. */
import type { DuplicateGroup } from './duplicates.ts'
import { forPeople } from './filePath.ts'
import { bytes, count, counted, seconds } from './numbers.ts'
import type { Failure, Report } from './report.ts'
import type { Session } from './run.ts'

const GROUPS_SHOWN = 10
const PATHS_SHOWN = 3

export function printReport(report: Report, session: Session): string {
  return [...found(report), ...duplicates(report), ...failures(report), ...speed(report, session)].join('\n')
}

function found({ folder, files, bytes: size, folders, links, special }: Report): string[] {
  const skipped = [...(links > 0 ? [counted(links, 'symbolic link')] : []), ...(special > 0 ? [counted(special, 'special file')] : [])]
  return [
    forPeople(folder),
    `  ${counted(files, 'file')}, ${bytes(size)}, in ${counted(folders, 'folder')}`,
    ...(skipped.length > 0 ? [`  skipped: ${skipped.join(' and ')}`] : []),
  ]
}

function duplicates({ duplicates: groups, folder }: Report): string[] {
  if (groups.length === 0) return ['', 'No duplicate files: nothing to save']
  const savings = groups.reduce((sum, group) => sum + group.savings, 0)
  const exactly = savings < 1_000 ? '' : ` (${count(savings)} bytes)`
  const title = `${counted(groups.length, 'file')} with copies: ${bytes(savings)}${exactly} could be saved`
  return [
    '',
    `${title}${more(groups.length, GROUPS_SHOWN, ', the largest savings')}:`,
    ...groups.slice(0, GROUPS_SHOWN).flatMap((group) => lines(group, folder)),
  ]
}

function lines({ size, paths, savings }: DuplicateGroup, folder: string): string[] {
  const shown = paths.slice(0, PATHS_SHOWN).map((path) => `              ${forPeople(path, folder)}`)
  const rest = paths.length > PATHS_SHOWN ? [`              and ${count(paths.length - PATHS_SHOWN)} more`] : []
  return [`  ${bytes(savings).padStart(8)}  ${count(paths.length)} × ${bytes(size)}`, ...shown, ...rest]
}

function failures({ failed, failures: some, folder }: Report): string[] {
  if (failed === 0) return ['', 'Nothing failed']
  const title = `${counted(failed, 'file or folder', 'files or folders')} could not be read, also when tried again${more(failed, some.length, ', the first by name')}:`
  return ['', title, ...some.map(({ path, reason }: Failure) => `  ${forPeople(path, folder)}: ${forPeople(reason)}`)]
}

function speed({ slowest, folder }: Report, { jobs, ms, jobsOfRun }: Session): string[] {
  const rate = `${counted(jobs, 'job')} in ${seconds(ms)}, ${count(jobs / (ms / 1000))} jobs per second`
  return [
    ...(slowest.length > 0 ? ['', 'Slowest files:'] : []),
    ...slowest.map(
      (file) => `  ${`${file.ms.toFixed(1)} ms`.padStart(11)}  ${bytes(file.size).padStart(8)}  ${forPeople(file.path, folder)}`,
    ),
    '',
    jobs === jobsOfRun ? rate : `${rate} since the run was continued; ${counted(jobsOfRun, 'job')} in all`,
  ]
}

function more(all: number, shown: number, which: string): string {
  return all > shown ? `${which} first` : ''
}
