/** `millrace audit`: shows who has changed what, over HTTP and by socket. */
import { integerOption } from '@millrace/core'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { controlOf } from '../control.ts'
import { timeText } from '../output/amounts.ts'
import { number } from '../values.ts'

const LIMIT = 50
const LIMIT_MAX = 100_000

export function addAudit(program: Command, context: Context): void {
  const { out } = context
  program
    .command('audit')
    .description('List the admin calls over HTTP and by socket, refused ones included, newest first')
    .option('--limit <number>', `at most this many: 1 to 100,000; default ${LIMIT}`, number, LIMIT)
    .action(async ({ limit }: { readonly limit: number }) => {
      const most = integerOption('limit', limit, 1, LIMIT_MAX)
      using control = await controlOf(context)
      const entries = control.audited(most).map(({ status = null, code = null, ...entry }) => ({ ...entry, status, code }))
      await out.answer({ entries }, () =>
        out.list(
          'no calls',
          [
            { title: 'AT', text: ({ at }) => timeText(at) },
            { title: 'WHO', text: ({ who }) => who },
            { title: 'VIA', text: ({ via }) => via },
            { title: 'OPERATION', text: ({ operation }) => operation },
            { title: 'OUTCOME', text: ({ outcome }) => (outcome === 'done' ? outcome : out.paint('yellow', outcome)) },
            { title: 'STATUS', text: ({ status, code }) => String(status ?? code ?? '-'), right: true },
            { title: 'TARGET', text: ({ target }) => JSON.stringify(target) },
          ],
          entries,
        ),
      )
    })
}
