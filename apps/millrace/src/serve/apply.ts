/**
 * Applies the queues and schedules of the configuration to the engine at each start. Those that it does not name stay unchanged, and those
 * that it no longer names are reported.
 */
import type { Engine } from '@millrace/client'
import type { Logger, QueueOptions, ScheduleOptions } from '@millrace/core'
import type { Config } from '../config/schema/schema.ts'
import { defaultsWith, keepsOf } from '../config/settings.ts'
import type { Control } from '../control/control.ts'
import { defined } from '../defined.ts'
import { compareQueues, compareSchedules } from './leavers.ts'
import { named } from './named.ts'

/** @throws ConfigError for problems that only the engine can detect */
export async function apply(engine: Engine, config: Config, control: Control, logger: Logger): Promise<void> {
  const { queues, schedules } = config
  for (const [name, settings] of Object.entries(queues)) await named(`queues.${name}`, () => applyQueue(engine, name, settings))
  for (const [id, schedule] of Object.entries(schedules)) await named(`schedules.${id}`, () => applySchedule(engine, id, schedule))
  await compareQueues(engine, { config, control, logger })
  await compareSchedules(engine, { config, control, logger })
}

async function applyQueue(
  engine: Engine,
  name: string,
  { paused, retention, defaults, ...limits }: Config['queues'][string],
): Promise<void> {
  const view = await engine.queues.get(name)
  const [keeps, run] = [defined(retention), defined(defaults)]
  const changes = {
    ...defined(limits),
    ...(Object.keys(keeps).length > 0 && { retention: { ...keepsOf(view), ...keeps } }),
    ...(Object.keys(run).length > 0 && defaultsWith(view, run)),
  } as QueueOptions
  // Only an existing queue can be paused or resumed.
  if (Object.keys(changes).length > 0 || view === undefined) await engine.queues.configure(name, changes)
  if (paused === true) await engine.queues.pause(name)
  if (paused === false) await engine.queues.resume(name)
}

async function applySchedule(
  engine: Engine,
  id: string,
  { job, data, queue, options, ...times }: Config['schedules'][string],
): Promise<void> {
  await engine.schedules.upsert(id, defined(times) as ScheduleOptions, {
    job: job as string,
    ...(data !== undefined && { data }),
    options: { ...options, ...(queue !== undefined && { queue }) },
  })
}
