/**
 * Ends the commands that a killed worker has left running. A group is killed only if it is certainly the one on record. Either
 * its first process has the recorded pid and start, or one of its members was started for that very run.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bootId, hasEnded, pidNamespace, startOf } from '@millrace/worker/process'
import { membersOf, wasGiven } from '../process/proc.ts'
import { endRecord, type RunRecord, readRecord } from './record.ts'

/** The number of checks, and the time between them, of members that show no environment yet. */
const LOOKS = 20
const LOOK_MS = 10

const RECORD = /^([0-9a-f-]{36})-(\d+)\.pid$/

/**
 * @param oldestMs removes records from before then that cannot be judged here
 * @returns numbers of the groups that were killed
 */
export function sweep(folder: string, oldestMs: number): number[] {
  const boot = bootId()
  if (boot === '') return []
  const namespace = pidNamespace()
  return readdirSync(folder).flatMap((name) => {
    const [, id, run] = RECORD.exec(name) ?? []
    if (id === undefined || run === undefined) return []
    const path = join(folder, name)
    const record = readRecord(path)
    // Half written, or from another container of this machine. A worker that can judge it has as long as a log is kept.
    if (record === undefined || (record.boot === boot && record.namespace !== namespace)) {
      // Missing if its run has ended meanwhile in another worker of the folder.
      const written = statSync(path, { throwIfNoEntry: false })
      if (written !== undefined && written.mtimeMs < oldestMs) endRecord(path)
      return []
    }
    // Processes from before a reboot of the machine are gone.
    const isOfNow = record.boot === boot
    if (isOfNow && !hasEnded(record.worker)) return []
    const group = isOfNow ? ownGroup(record, { JOB_ID: id, JOB_RUN: run }) : undefined
    if (group !== undefined && !kill(group)) return []
    endRecord(path)
    return group === undefined ? [] : [group]
  })
}

function ownGroup({ group }: RunRecord, variables: Readonly<Record<string, string>>): number | undefined {
  if (group === undefined) return undefined
  if (startOf(group.pid) === group.start) return group.pid
  return hasMemberOf(group.pid, variables) ? group.pid : undefined
}

/** Waits for members that show no environment yet. Only a worker's start waits, and only for commands in their first moment. */
function hasMemberOf(group: number, variables: Readonly<Record<string, string>>): boolean {
  for (let looks = 1; ; looks++) {
    const told = membersOf(group)?.map((pid) => wasGiven(pid, variables)) ?? []
    if (told.includes(true)) return true
    if (!told.includes(undefined) || looks === LOOKS) return false
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
}

/** Returns false if the group may not be killed. The record then stays for a worker that may. */
function kill(group: number): boolean {
  try {
    return process.kill(-group, 'SIGKILL')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
