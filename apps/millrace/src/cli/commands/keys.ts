/** `millrace keys`: shows the job that holds a key, and releases keys. */
import { retryLost } from '@millrace/client'
import { JobNotFoundError, type JobOfKey } from '@millrace/core'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { defaultCommand } from '../groups.ts'
import { jobLines } from '../view/job.ts'

interface Flags {
  readonly idempotency?: true
}

export function addKeys(program: Command, { connect, out }: Context): void {
  const keys = program.command('keys').description('Find jobs by their unique or idempotency keys, and release keys')
  const add = (command: Command, description: string) =>
    command
      .description(description)
      .argument('<name>', 'name of the job')
      .argument('<key>')
      .option('--idempotency', 'the key is an idempotency key; default a unique key')
  add(defaultCommand(keys, 'show'), 'Show the job that holds a key').action(async (name: string, key: string, flags: Flags) => {
    const engine = await connect()
    const job = await retryLost(() => engine.get(keyOf(name, key, flags)))
    if (job === undefined) throw new JobNotFoundError(`no job '${name}' holds the key '${key}'`, { jobId: '' })
    await out.answer(job, () => jobLines(job, out.paint))
  })
  add(keys.command('release'), 'Take a key from the job that holds it, so that another call may use it').action(
    async (name: string, key: string, flags: Flags) => {
      const engine = await connect()
      const released = await engine.releaseKey(keyOf(name, key, flags))
      await out.answer({ name, key, released }, () => (released ? `${name} ${key} released` : `no job '${name}' holds the key '${key}'`))
    },
  )
}

function keyOf(name: string, key: string, { idempotency }: Flags): JobOfKey {
  return idempotency ? { name, idempotencyKey: key } : { name, uniqueKey: key }
}
