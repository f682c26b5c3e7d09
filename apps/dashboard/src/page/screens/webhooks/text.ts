/** Sentences of the list of webhooks. */
import { counted } from '../../format/numbers.ts'

export const WEBHOOKS_TEXT = {
  list: 'Endpoints',
  columns: { id: 'Endpoint', events: 'Events', state: 'State', behind: 'Behind', url: 'URL', actions: 'Actions' },
  off: {
    title: 'Webhooks are off',
    text: 'Set webhooks.enabled in the configuration of the daemon, and start it again.',
  },
  none: {
    title: 'No endpoints yet',
    text: 'An endpoint gets the events that you choose, by HTTP. From a terminal:',
    command: 'millrace webhooks add billing https://example.com/hooks --events completed,failed',
  },
  states: {
    on: 'enabled',
    failing: 'failing since',
    off: 'disabled',
    gone: 'disabled: it answered 410 Gone',
    broken: 'disabled: it failed for too long',
    invalid: 'disabled: its settings are not valid',
  },
  only: (what: string) => `only ${what}`,
  behind: (events: number) => counted(events, 'event'),
  deliveries: 'Deliveries',
  failed: 'Failed deliveries',
  test: 'Send a test',
  tested: (id: string) => `A test is on its way to ${id}: see its deliveries.`,
  enable: 'Enable',
  replay: 'Enable, and replay what it missed',
  disable: 'Disable…',
  disabling: {
    title: (id: string) => `Disable ${id}`,
    text: 'It gets no more events, and deliveries under way are cancelled. You can enable it again, and replay what it missed.',
    action: 'Disable',
  },
  enabled: (id: string) => `Endpoint ${id} is enabled.`,
  disabled: (id: string) => `Endpoint ${id} is disabled.`,
} as const
