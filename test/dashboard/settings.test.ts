/** The settings: tokens and the audit, for those who may. */
import { expect, onTestFinished } from 'vitest'
import { Control } from '../../apps/millrace/src/control/control.ts'
import { SYSTEM } from '../../apps/millrace/src/control/surroundings.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { task } from '../browser/task.ts'
import { type Serve, test } from './test.ts'

/** A dashboard with tokens in a control database, as the daemon has it, and a token that no test names. */
async function withTokens(serveDashboard: Serve) {
  const control = new Control(':memory:', SYSTEM)
  onTestFinished(() => control.close())
  control.createToken({ name: 'bystander', scopes: ['read'] })
  const dashboard = await serveDashboard({
    http: {
      version: '1.2.3',
      audit: (entry) => control.audit({ ...entry, via: 'http' }),
      tokens: {
        list: () => control.listTokens(),
        create: (token) => control.createToken(token),
        revoke: (id) => control.revokeToken(id),
        audited: (limit) => control.audited(limit),
      },
    },
  })
  return { ...dashboard, control }
}

test('create a token in three clicks: it is shown once, works, and is in the audit without itself', async ({ serveDashboard }) => {
  const { enter, control } = await withTokens(serveDashboard)
  const page = await enter('/settings')
  const dialog = page.getByRole('dialog', { name: 'New token' })
  await task(page, 3, async (user) => {
    await user.click(page.getByRole('button', { name: 'New token…' }))
    await dialog.getByLabel('Name').focus()
    await user.type('ci')
    await expectAccessible(page)
    await user.click(dialog.getByRole('checkbox', { name: /^enqueue/ }))
    await user.click(dialog.getByRole('button', { name: 'Create' }))
  })
  const shown = page.getByRole('dialog', { name: 'Token ci' })
  const token = (await shown.locator('code').textContent()) ?? ''
  expect(control.authenticate(token)).toMatchObject({ name: 'ci', scopes: ['enqueue', 'read'] })
  await expectAccessible(page)
  await shown.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('region', { name: 'Audit' }).getByRole('cell', { name: 'createToken' }).waitFor()
  expect(await page.content()).not.toContain(token)
  await expectAccessible(page)
})

test('revoke a token in two clicks; others stay', async ({ serveDashboard }) => {
  const { enter, control } = await withTokens(serveDashboard)
  control.createToken({ name: 'leaked', scopes: ['admin'] })
  const page = await enter('/settings')
  const row = page.getByRole('row').filter({ hasText: 'leaked' })
  await task(page, 2, async (user) => {
    await user.click(row.getByRole('button', { name: 'Revoke…' }))
    await user.click(page.getByRole('dialog', { name: 'Revoke leaked' }).getByRole('button', { name: 'Revoke' }))
    await row.getByText('revoked').waitFor()
  })
  expect(control.listTokens().map(({ name, revokedAt }) => [name, revokedAt !== undefined])).toEqual([
    ['bystander', false],
    ['leaked', true],
  ])
})

test('a name in use is refused in the dialog', async ({ serveDashboard, guard }) => {
  const { enter, control } = await withTokens(serveDashboard)
  guard.expect(/409/)
  const page = await enter('/settings')
  await page.getByRole('button', { name: 'New token…' }).click()
  await page.getByLabel('Name').fill('bystander')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText(/there is a token 'bystander'/).waitFor()
  expect(control.listTokens()).toHaveLength(1)
})

test('a token that may only read sees the installation, and neither tokens nor the audit; on a phone, too', async ({ serveDashboard }) => {
  const { enter, server } = await withTokens(serveDashboard)
  const page = await enter('/settings', { as: 'read', viewport: { width: 390, height: 844 } })
  await page.getByText('1.2.3').waitFor()
  const storage = page.getByRole('region', { name: 'Storage' })
  await storage.getByText(/^\d+ kB, \d+(?:\.\d)? k?B of it free/).waitFor()
  await page.getByText('Tokens and the audit need a token with the scope admin.').waitFor()
  expect(server.asked.filter(({ path }) => /tokens|audit/.test(path))).toEqual([])
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(page)
})

test('an admin on a phone: as wide as the phone', async ({ serveDashboard }) => {
  const { enter, control } = await withTokens(serveDashboard)
  control.createToken({ name: 'a-token-with-a-name-that-is-rather-long-and-does-not-fit', queues: ['q'.repeat(100)] })
  const page = await enter('/settings', { viewport: { width: 390, height: 844 } })
  await page.getByText('a-token-with').waitFor()
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
})
