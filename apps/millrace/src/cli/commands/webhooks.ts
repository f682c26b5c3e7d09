/** `millrace webhooks`: manages the endpoints that a daemon notifies of job events. */
import type { Engine } from '@millrace/engine'
import type { Endpoint, EventWebhooks, NewEndpoint } from '@millrace/webhooks'
import type { Command } from 'commander'
import type { Control } from '../../control/control.ts'
import { defined } from '../../defined.ts'
import type { Context } from '../context.ts'
import { controlOf } from '../control.ts'
import { NotFoundError, UsageError } from '../errors.ts'
import { defaultCommand } from '../groups.ts'
import { beside } from '../target.ts'
import { names } from '../values.ts'

interface AddFlags {
  readonly events: readonly string[]
  readonly queues?: readonly string[]
  readonly names?: readonly string[]
  readonly secret?: string
}

export function addWebhooks(program: Command, context: Context): void {
  const { out } = context
  const webhooks = program
    .command('webhooks')
    .description('Manage the endpoints to which a daemon with webhooks.enabled posts events of jobs')
  defaultCommand(webhooks, 'list')
    .description('List endpoints with the last event that each has received')
    .action(() =>
      withEndpoints(context, async (_feed, control) => {
        const endpoints = (await control.endpoints.list()).map(({ headers: _headers, ...shown }) => shown)
        await out.answer({ webhooks: endpoints }, () =>
          out.list(
            'no endpoints',
            [
              { title: 'ID', text: ({ id }) => id },
              { title: 'URL', elastic: true, text: ({ url }) => url },
              { title: 'EVENTS', text: ({ events }) => events.join(',') },
              { title: 'CURSOR', text: ({ cursor }) => String(cursor), right: true },
              {
                title: '',
                text: ({ enabled, disabledReason }) => (enabled ? '' : `disabled${disabledReason ? `: ${disabledReason}` : ''}`),
              },
            ],
            endpoints,
          ),
        )
      }),
    )
  webhooks
    .command('add')
    .description(
      'Add an endpoint, from the next event on; a known one continues and keeps what you leave out, and "none" removes a setting',
    )
    .argument('<id>')
    .argument('<url>')
    .requiredOption('--events <types>', 'only these types of events: completed,failed', names)
    .option('--queues <names>', 'only jobs in these queues', names)
    .option('--names <names>', 'only jobs with these names', names)
    .option('--secret <name>', 'one of webhooks.secrets, by its name, that no other endpoint uses')
    .action((id: string, url: string, { events, ...flags }: AddFlags) =>
      withEndpoints(context, async (feed, control) => {
        const before = (await control.endpoints.list()).find((endpoint) => endpoint.id === id)
        refuseMoved(before, url)
        const settings = settingsOf(flags, before)
        const { headers: _headers, ...added } = await feed.add({ id, url, events: events as NewEndpoint['events'], ...settings })
        const kept = Object.keys(settings).filter((name) => !(name in flags))
        await out.answer(added, () => `${id} gets ${events.join(', ')}${kept.length === 0 ? '' : `; it keeps its ${kept.join(', ')}`}`)
      }),
    )
  webhooks
    .command('enable')
    .description('Enable an endpoint again')
    .argument('<id>')
    .option('--replay', 'continue where it was disabled, as far as events are kept; default with the next event')
    .action((id: string, { replay = false }: { readonly replay?: boolean }) =>
      withEndpoints(context, async (_feed, control, engine) => {
        const { EventWebhooks } = await import('@millrace/webhooks')
        await new EventWebhooks(engine, { endpoints: control.endpoints, secrets: unknownHere }).enable(id, { replay })
        await out.answer({ id, enabled: true }, () => `${id} is enabled`)
      }),
    )
  webhooks
    .command('disable')
    .description('Disable an endpoint and cancel its deliveries')
    .argument('<id>')
    .action((id: string) =>
      withEndpoints(context, async (feed) => {
        await feed.disable(id)
        await out.answer({ id, enabled: false }, () => `${id} is disabled`)
      }),
    )
  webhooks
    .command('delete')
    .description('Delete an endpoint and cancel its deliveries')
    .argument('<id>')
    .action((id: string) =>
      withEndpoints(context, async (feed) => {
        if (!(await feed.remove(id))) throw noEndpoint(id)
        await out.answer({ id, deleted: true }, () => `${id} deleted`)
      }),
    )
}

/** @throws NotFoundError */
export async function assertEndpoint(context: Context, id: string): Promise<void> {
  using control = await controlOf(context)
  if (!(await control.endpoints.list()).some((endpoint) => endpoint.id === id)) throw noEndpoint(id)
}

function noEndpoint(id: string): NotFoundError {
  return new NotFoundError(`there is no endpoint ${id}: see millrace webhooks list`)
}

/** Returns the settings in the flags, and those of the known endpoint that the flags leave out. `none` removes one. */
function settingsOf({ secret, queues, names: only }: Omit<AddFlags, 'events'>, before: Endpoint | undefined): Partial<NewEndpoint> {
  return defined<Partial<NewEndpoint>>({
    secret: unlessNone(secret ?? before?.secret),
    headers: before?.headers,
    queues: unlessNone(queues ?? before?.queues),
    names: unlessNone(only ?? before?.names),
  })
}

/** Refuses to send the headers of an endpoint, which may hold credentials, to another host. */
function refuseMoved(before: Endpoint | undefined, url: string): void {
  const origin = URL.parse(url)?.origin
  // A URL that cannot be read is refused when it is added.
  if (before === undefined || origin === undefined || Object.keys(before.headers ?? {}).length === 0) return
  const known = URL.parse(before.url)?.origin
  if (origin === known) return
  throw new UsageError(
    `${before.id} has headers for ${known}, which are not sent to another host: delete it first (millrace webhooks delete ${before.id})`,
  )
}

function unlessNone<Value extends string | readonly string[]>(value: Value | undefined): Value | undefined {
  return String(value) === 'none' ? undefined : value
}

/** Runs `work` with the endpoints. The daemon delivers to them; this command only changes them. */
async function withEndpoints(
  context: Context,
  work: (feed: EventWebhooks, control: Control, engine: Engine) => Promise<void>,
): Promise<void> {
  // Rejects an unsuitable target before the first request.
  beside(context.target())
  const engine = await context.connect()
  const { EventWebhooks } = await import('@millrace/webhooks')
  using control = await controlOf(context, { create: true })
  await work(new EventWebhooks(engine, { endpoints: control.endpoints }), control, engine)
}

/** Rejects a replay that needs the secret of the endpoint, which only the daemon has. */
function unknownHere(name: string): never {
  throw new UsageError(
    `deliveries that go to another URL than before are made with the secret '${name}', which the daemon has: replay them there, by POST /v1/webhooks/<id>/enable with {"replay":true}`,
  )
}
