/** Sessions of browsers with daemons: over a restart, beside another daemon of the host, and until the token is revoked. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Control } from '../../apps/millrace/src/control/control.ts'
import { SYSTEM } from '../../apps/millrace/src/control/surroundings.ts'
import { temporaryFolder } from '../temporary.ts'
import { startDaemonHere, tokenIn } from './daemon.ts'

const PAGE = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }

async function logIn(url: string, token: string): Promise<string> {
  const answer = await fetch(`${url}/v1/session`, { method: 'POST', headers: PAGE, body: JSON.stringify({ token }) })
  expect(answer.status).toBe(204)
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const statusOf = async (url: string, cookie: string) => (await fetch(`${url}/v1/stats`, { headers: { cookie } })).status

test('a session is good after a restart, and ends at once when its token is revoked', async () => {
  const folder = temporaryFolder()
  const first = startDaemonHere(folder)
  const { url } = await first.serving
  const control = new Control(join(folder, 'millrace.db'), SYSTEM)
  onTestFinished(() => control.close())
  const { token } = control.createToken({ name: 'on-call', scopes: ['read'] })
  const [cookie, bystander] = [await logIn(url, token), await logIn(url, tokenIn(folder))]
  expect([await statusOf(url, cookie), await statusOf(url, bystander)]).toEqual([200, 200])
  first.signal('SIGTERM')
  await first.ended

  const again = (await startDaemonHere(folder).serving).url
  expect([await statusOf(again, cookie), await statusOf(again, bystander)]).toEqual([200, 200])
  control.revokeToken('on-call')
  expect([await statusOf(again, cookie), await statusOf(again, bystander)]).toEqual([401, 200])
})

test('two daemons of one host, whose cookies a browser sends to both', async () => {
  const folders = [temporaryFolder(), temporaryFolder()] as const
  const urls = await Promise.all(folders.map(async (folder) => (await startDaemonHere(folder).serving).url))
  const cookies = await Promise.all(urls.map((url, index) => logIn(url, tokenIn(folders[index] as string))))
  expect(new Set(cookies.map((cookie) => cookie.split('=')[0])).size).toBe(2)
  for (const url of urls) expect(await statusOf(url, cookies.join('; '))).toBe(200)
})
