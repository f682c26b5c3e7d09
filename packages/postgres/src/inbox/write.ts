/** Takes entries out of the inbox, in the turn that creates their jobs or refuses them. */
import type { InboxEffects } from '@millrace/core/kernel'
import { type Batch, columns } from '../write/batch.ts'

const REFUSE = `INSERT INTO inbox_refused (id, at, name, data, options, refused_at, code, message)
SELECT inbox.id, inbox.at, inbox.name, inbox.data, inbox.options, $1::bigint, refused.code, refused.message
FROM unnest($2::bigint[], $3::text[], $4::text[]) AS refused (id, code, message) JOIN inbox ON inbox.id = refused.id`

export function writeInbox(batch: Batch, effects: InboxEffects | undefined, at: number): void {
  if (effects === undefined) return
  const { taken, refused } = effects
  if (refused.length > 0)
    batch.add(
      REFUSE,
      at,
      ...columns(
        refused,
        ({ id }) => id,
        ({ code }) => code,
        ({ message }) => message,
      ),
    )
  // An entry that is gone was taken by another turn: this one fails as a whole.
  batch.change('inbox', taken.length, 'DELETE FROM inbox WHERE id = ANY ($1::bigint[])', taken)
}
