/** Tokens that are made and revoked beside a running daemon. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Control } from '../../apps/millrace/src/control/control.ts'
import { SYSTEM } from '../../apps/millrace/src/control/surroundings.ts'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemonHere } from './daemon.ts'

test('a token is good from its making to its revocation, whoever makes and revokes it', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemonHere(folder)
  await daemon.serving
  const control = new Control(join(folder, 'millrace.db'), SYSTEM)
  onTestFinished(() => control.close())
  const { token } = control.createToken({ name: 'producer', scopes: ['enqueue', 'read'] })
  const engine = await attached(daemon, folder, token)
  const admin = await attached(daemon, folder)
  const { id } = await engine.enqueue('anything')
  await expect(engine.cancel(id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(control.listTokens().map(({ name, lastUsedAt }) => [name, lastUsedAt instanceof Date])).toEqual([
    ['admin', true],
    ['producer', true],
  ])
  const watching = engine.events({ after: 0 })
  expect((await watching.next()).value).toMatchObject({ type: 'enqueued' })
  const over = watching.next()
  control.revokeToken('producer')
  // At once for whoever comes, and within a second for who is connected.
  await expect(attached(daemon, folder, token)).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  await expect(over).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  await expect(engine.stats()).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  expect(await admin.cancel(id)).toBe('cancelled')
})
