/** Bugs in schedules. */
import type { Canary } from './canary.ts'

const schedules = 'packages/core/src/kernel/schedules'

export const SCHEDULES: readonly Canary[] = [
  {
    name: 'tick-not-written-with-its-job',
    file: `${schedules}/fire.ts`,
    find: "  schedule.fired++\n  turn.effects.schedule(schedule, 'move')",
    replace: '  schedule.fired++',
    breaks: 'invariant 23',
  },
  {
    name: 'next-tick-from-now',
    file: `${schedules}/fire.ts`,
    find: 'next: tickAfter(schedule, nextAt, turn.settings.calendar)',
    replace: 'next: turn.now.wall + (schedule.spec.every ?? 0)',
    breaks: 'invariant 23',
  },
  {
    name: 'tick-after-a-clock-set-back',
    file: `${schedules}/upsert.ts`,
    find: 'Math.max(turn.now.wall, schedule.lastAt)',
    replace: 'turn.now.wall',
    breaks: 'invariant 23',
  },
  {
    name: 'more-runs-than-its-bound',
    file: `${schedules}/fire.ts`,
    find: 'runsLeft(schedule) > 0 ? next : 0',
    replace: 'runsLeft(schedule) >= 0 ? next : 0',
    breaks: 'invariant 23',
  },
  {
    name: 'cancelled-though-it-may-run-beside',
    file: `${schedules}/fire.ts`,
    find: "schedule.spec.overlap === 'allow' ? undefined : liveJob(turn, schedule)",
    replace: 'liveJob(turn, schedule)',
    breaks: 'invariant 10',
  },
  {
    name: 'waiting-job-not-updated',
    file: `${schedules}/updateWaiting.ts`,
    find: 'return !hasLabels',
    replace: 'return !hasLabels\n  if (job.parked === undefined) return true',
    breaks: 'invariant 23',
  },
  {
    name: 'updated-though-it-has-begun',
    file: `${schedules}/updateWaiting.ts`,
    find: 'hasStarted(job) ||',
    replace: 'job.state === 2 ||',
    breaks: 'invariant 23',
  },
  {
    name: 'cron-before-its-beginning',
    file: 'packages/core/src/kernel/records/ticks.ts',
    find: 'Math.max(after, startAt - 1)',
    replace: 'after + 0 * startAt',
    breaks: 'invariant 23',
  },
  {
    name: 'interval-from-the-creation',
    file: `${schedules}/upsert.ts`,
    find: 'anchor: spec.startAt ?? now.wall',
    replace: 'anchor: Math.max(spec.startAt ?? 0, now.wall)',
    breaks: 'invariant 23',
  },
  {
    name: 'skipped-tick-not-told',
    file: `${schedules}/fire.ts`,
    find: "    turn.effects.systemEvent({ type: 'schedule.skipped', schedule: schedule.id, tick, ...(reason && { reason }) })\n",
    replace: "    if (reason !== 'overlap') turn.effects.systemEvent({ type: 'schedule.skipped', schedule: schedule.id, tick, reason })\n",
    breaks: 'invariant 40',
  },
]
