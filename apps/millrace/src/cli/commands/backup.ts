/** `millrace backup`: copies the database while the engine continues to work. */
import { isAbsolute, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { bytesText } from '../output/amounts.ts'

export function addBackup(program: Command, context: Context): void {
  program
    .command('backup')
    .description('Write a copy of the database to a new file, on the machine of the engine')
    .argument('<file>')
    .action(async (given: string) => {
      const { out } = context
      if (given === '') throw new UsageError('<file> must be the path of a new file, got an empty string')
      const target = context.target()
      const elsewhere = target.kind === 'url' && /^(tcp|tls):/.test(target.url)
      if (elsewhere && !isAbsolute(given))
        throw new UsageError(
          `the engine writes the file, and does not know this folder: give an absolute path of its machine, not ${given}`,
        )
      const file = elsewhere ? given : resolve(given)
      const engine = await context.connect()
      const { bytes } = await engine.backup(file)
      await out.answer({ file, bytes }, () => `${file}: ${bytesText(bytes)}`)
    })
}
