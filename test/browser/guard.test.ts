/** What a page may not do is reported: each of these tests fails unless it is, and if anything else is. */
import { expect } from 'vitest'
import { serve } from './serve.ts'
import { test } from './test.ts'

/** The policy that the dashboard will have. */
const STRICT =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
const NO_EVAL = "default-src 'none'; script-src 'self'"

/** Serves a page with a script, and a policy if there is one. */
function servePage(script: string, policy = '', body = ''): Promise<string> {
  return serve((request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/script.js') return new Response(script, { headers: { 'content-type': 'text/javascript' } })
    if (pathname !== '/') return new Response('nothing', { status: 404 })
    const html = `<!doctype html><html lang="en"><title>A page</title><script src="/script.js"></script><h1>A page</h1>${body}`
    return new Response(html, { headers: { 'content-type': 'text/html', 'content-security-policy': policy } })
  })
}

test('nothing is reported of a page that does nothing wrong', async ({ visit, guard }) => {
  const script =
    'console.warn("a warning"); document.documentElement.style.color = "red"; fetch("/").then((answer) => { document.title = answer.status })'
  const page = await visit(await servePage(script, STRICT))
  await expect.poll(() => page.title()).toBe('200')
  expect(guard.problems()).toEqual([])
})

test('a page has the same language and time zone on each machine', async ({ visit }) => {
  const page = await visit(await servePage(''))
  const facts = '[navigator.language, new Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(0).toLocaleString()]'
  expect(await page.evaluate<unknown>(facts)).toEqual(['en-GB', 'Europe/Berlin', '01/01/1970, 01:00:00'])
})

test('a page has text', async ({ visit }) => {
  const page = await visit(await servePage(''))
  const session = await page.context().newCDPSession(page)
  for (const domain of ['DOM.enable', 'CSS.enable'] as const) await session.send(domain)
  const { root } = await session.send('DOM.getDocument')
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'h1' })
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId })
  expect(fonts.reduce((sum, { glyphCount }) => sum + glyphCount, 0)).toBe('A page'.length)
})

const WRONGS: readonly (readonly [what: string, script: string, policy: string, body: string, reported: readonly RegExp[]])[] = [
  ['an error that nobody catches', 'throw new Error("a mistake")', '', '', [/^error: a mistake$/]],
  ['a promise that nobody catches', 'Promise.reject(new Error("a promise"))', '', '', [/^error: a promise$/]],
  ['an error of the console', 'console.error("wrong", 1)', '', '', [/^console: wrong 1 \(http:.*script\.js\)$/]],
  ['an assertion that fails', 'console.assert(false, "untrue")', '', '', [/^console: untrue/]],
  ['an answer that is an error', 'fetch("/nowhere")', '', '', [/^console: .*status of 404.*nowhere\)$/]],
  [
    'an inline style',
    '',
    STRICT,
    '<p style="color: red">',
    [/^content security policy: style-src-attr refuses kInlineViolation/, /^console: Applying/],
  ],
  ['an inline script', '', STRICT, '<script>1</script>', [/^content security policy: script-src-elem/, /^console: Executing/]],
  [
    'HTML out of a string',
    'try { document.documentElement.innerHTML = "<p>" } catch {}',
    STRICT,
    '',
    [/^content security policy: require-trusted-types-for/, /^console: /],
  ],
  [
    'an evaluation in silence',
    'try { new Function("1") } catch {}',
    NO_EVAL,
    '',
    [/^content security policy: script-src refuses kEvalViolation/],
  ],
  [
    'a request that the policy refuses',
    'fetch("http://127.0.0.1:1/").catch(() => {})',
    STRICT,
    '',
    [/^content security policy: connect-src refuses http:\/\/127.0.0.1:1\//, /^console: (?:Connecting|Fetch)/],
  ],
  [
    'a request to another origin',
    'fetch("http://127.0.0.1:1/").catch(() => {})',
    '',
    '',
    [/^foreign request: http:\/\/127\.0\.0\.1:1\/$/, /^console: /],
  ],
  ['a picture of another origin', '', '', '<img alt="" src="http://127.0.0.1:1/a.png">', [/^foreign request: .*a\.png$/, /^console: /]],
  ['a socket to another origin', 'new WebSocket("ws://127.0.0.1:1/")', '', '', [/^foreign request: ws:/, /^console: /]],
]

test.for(WRONGS)('%s is reported', async ([, script, policy, body, reported], { visit, guard }) => {
  const seen = reported.map((pattern) => guard.expect(pattern))
  await visit(await servePage(script, policy, body))
  await Promise.all(seen)
})

test('a window that the page opens is watched too', async ({ visit, guard }) => {
  const seen = guard.expect(/^error: a mistake$/)
  const page = await visit(await servePage('if (opener) throw new Error("a mistake")'))
  await page.evaluate('void open("/")')
  await seen
})

test('an expected problem that does not happen is a problem', async ({ visit, guard }) => {
  const seen = guard.expect(/^error: late$/)
  const page = await visit(await servePage(''))
  expect(guard.problems()).toEqual(['expected, but absent: /^error: late$/'])
  await page.evaluate('setTimeout(() => { throw new Error("late") })')
  await seen
})

test('an expected problem may happen after the test', async ({ visit, guard }) => {
  void guard.expect(/^error: late$/)
  const page = await visit(await servePage(''))
  await page.evaluate('setTimeout(() => { throw new Error("late") }, 300)')
})
