/** Pages that attack: at another port of the same host, which browsers call the same site, or at another host. */
import type { BrowserContext, Page } from 'playwright-core'
import { serve } from '../../browser/serve.ts'

/** From 127.0.0.1 to 127.0.0.1 the site is the same; from localhost it is another one. */
export type From = 'the same site' | 'another site'

/** Opens a page of the attacker in the browser that has the session. */
export async function openAttacker(context: BrowserContext, from: From): Promise<Page> {
  const html = '<!doctype html><html lang="en"><title>A page</title><h1>You have won</h1></html>'
  const origin = await serve(() => new Response(html, { headers: { 'content-type': 'text/html' } }))
  const page = await context.newPage()
  await page.goto(from === 'the same site' ? origin : origin.replace('127.0.0.1', 'localhost'))
  return page
}
