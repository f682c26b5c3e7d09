/** `millrace token`: manages tokens, which define who may do what with a daemon over HTTP and over its sockets. */
import type { Command } from 'commander'
import type { TokenOptions, TokenView } from '../../control/tokens.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { controlOf } from '../control.ts'
import { defaultCommand } from '../groups.ts'
import { names } from '../values.ts'

export function addToken(program: Command, context: Context): void {
  const { out } = context
  const token = program.command('token').description('Create, list and revoke tokens of a daemon')
  token
    .command('create')
    .description('Create a token and print it once: only its digest is kept')
    .argument('<name>', 'name of the token in logs and in the audit')
    .option('--scopes <scopes>', 'scopes of the token: enqueue,work,read,admin,send; default all', names)
    .option('--names <names>', 'with the scope work: its workers serve jobs of these names only', names)
    .option('--queues <names>', 'with the scope work: its workers serve these queues only', names)
    .action(async (name: string, flags: Omit<TokenOptions, 'name'>) => {
      using control = await controlOf(context, { create: true })
      const { token: text, view } = control.createToken({ name, ...flags })
      await out.answer({ token: text, ...view }, () => text)
      if (!out.json) out.note(`${view.name} (${view.id}): ${view.scopes.join(', ')}${boundText(view, '; ')}`)
    })
  defaultCommand(token, 'list')
    .description('List all tokens, revoked ones included')
    .action(async () => {
      using control = await controlOf(context)
      const tokens = control.listTokens()
      await out.answer({ tokens }, () =>
        out.list(
          'no tokens',
          [
            { title: 'ID', text: ({ id }) => id },
            { title: 'NAME', elastic: true, text: ({ name }) => name },
            { title: 'SCOPES', text: ({ scopes }) => scopes.join(',') },
            { title: 'SERVES', elastic: true, text: (view) => boundText(view) },
            { title: 'CREATED', text: ({ createdAt }) => createdAt.toISOString() },
            { title: 'LAST USED', text: ({ lastUsedAt }) => lastUsedAt?.toISOString() ?? '-' },
            { title: '', text: ({ revokedAt }: TokenView) => (revokedAt === undefined ? '' : `revoked ${revokedAt.toISOString()}`) },
          ],
          tokens,
        ),
      )
    })
  token
    .command('revoke')
    .description('Revoke a token')
    .argument('<id|name>')
    .action(async (wanted: string, { yes }: { readonly yes?: boolean }) => {
      using control = await controlOf(context)
      const tokens = control.listTokens().filter(({ revokedAt }) => revokedAt === undefined)
      const found = tokens.find(({ id, name }) => id === wanted || name === wanted)
      if (found !== undefined) await confirm(context, revokeText(found, tokens), yes)
      const view = control.revokeToken(wanted)
      await out.answer(view, () => `${view.name} (${view.id}) is revoked`)
    })
}

/** Formats the names and queues that the token's workers may serve, if they are restricted. */
function boundText({ names, queues }: TokenView, before = ''): string {
  const parts = [names && `names ${names.join(',')}`, queues && `queues ${queues.join(',')}`].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : `${before}${parts.join(' ')}`
}

/** Says what a revocation takes away. Without a token of the scope admin, only a new one on the machine of the daemon helps. */
function revokeText({ id, name }: TokenView, tokens: readonly TokenView[]): string {
  const admins = tokens.filter(({ scopes }) => scopes.includes('admin'))
  const isLast = admins.length === 1 && admins[0]?.id === id
  return `Token ${name} (${id}) would be revoked.${isLast ? ' It is the last one with the scope admin.' : ''}`
}
