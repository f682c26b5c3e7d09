/** The rows of endpoints: those that need a look come first. */
import type { WebhookListAnswer } from '@millrace/http'

export type Webhook = WebhookListAnswer['webhooks'][number]
export type State = 'on' | 'failing' | 'off' | 'gone' | 'broken' | 'invalid'

export interface WebhookRow {
  readonly id: string
  readonly url: string
  readonly events: string
  /** The queues and the names that it is limited to; undefined for all. */
  readonly only: string | undefined
  readonly state: State
  readonly tone: 's-good' | 's-warn' | 's-bad' | 'muted'
  readonly failingSince: string | undefined
  readonly isEnabled: boolean
  /** Events that it has not looked at yet. */
  readonly behind: number
}

const TONES = { on: 's-good', failing: 's-warn', off: 'muted', gone: 's-bad', broken: 's-bad', invalid: 's-bad' } as const
const ORDER: readonly WebhookRow['tone'][] = ['s-bad', 's-warn', 's-good', 'muted']

/** @param seq the last event of the engine */
export function webhookRows(webhooks: readonly Webhook[], seq: number): readonly WebhookRow[] {
  return webhooks
    .map((webhook) => rowOf(webhook, seq))
    .toSorted((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone) || a.id.localeCompare(b.id, 'en'))
}

function rowOf(webhook: Webhook, seq: number): WebhookRow {
  const { id, url, events, queues = [], names = [], enabled, cursor, failingSince } = webhook
  const state = stateOf(webhook)
  const only = [...queues.map((queue) => `queue:${queue}`), ...names.map((name) => `name:${name}`)]
  return {
    id,
    url,
    events: events.join(', '),
    only: only.length === 0 ? undefined : only.join(' '),
    state,
    tone: TONES[state],
    failingSince,
    isEnabled: enabled,
    behind: enabled ? Math.max(0, seq - cursor) : 0,
  }
}

function stateOf({ enabled, failingSince, disabledReason }: Webhook): State {
  if (enabled) return failingSince === undefined ? 'on' : 'failing'
  return disabledReason === 'failing' ? 'broken' : (disabledReason ?? 'off')
}
