/** Asks what an open overview asks, as often, until it is ended: a process of its own, so that its work is not the server's. */
import { OVERVIEW_LOOKS } from './overviewLooks.ts'

const HOUR_MS = 3_600_000
const [, , origin = '', token = ''] = process.argv

async function look(path: string): Promise<void> {
  const from = path.startsWith('/v1/history') ? `&from=${new Date(Date.now() - HOUR_MS).toISOString()}` : ''
  const response = await fetch(`${origin}${path}${from}`, { headers: { authorization: `Bearer ${token}` } })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}`)
}

await Promise.all(OVERVIEW_LOOKS.map(({ path }) => look(path)))
for (const { path, everyMs } of OVERVIEW_LOOKS) setInterval(() => void look(path), everyMs)
process.stdout.write('open\n')
