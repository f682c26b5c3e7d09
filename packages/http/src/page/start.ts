/** The page at the address of the API, with links for people. */
import { createHash } from 'node:crypto'

const STYLE =
  ':root { color-scheme: light dark; background: Canvas; color: CanvasText; } body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 0 auto; padding: 2rem 1rem; } code { font: 14px ui-monospace, monospace; } pre { white-space: pre-wrap; }'

const LINKS: readonly (readonly [path: string, about: string])[] = [
  ['/docs', 'every operation, with what it takes and answers'],
  ['/openapi.json', 'the same as an OpenAPI 3.1 document'],
  ['/readyz', 'whether the engine accepts new jobs'],
  ['/healthz', 'whether the process answers'],
  ['/metrics', 'metrics in the OpenMetrics format (needs a token with the scope read)'],
  ['/v1/stats', 'counts of jobs, queues and workers (needs a token with the scope read)'],
]

/**
 * Returns the page, and the hash by which a content security policy allows its style. It contains nothing of the queue.
 *
 * @param isMissing true if it stands where nothing is, and says so
 */
export function startPage(basePath: string, isMissing = false): { readonly html: string; readonly style: string } {
  const links = LINKS.map(([path, about]) => `<li><a href="${basePath}${path}"><code>${path}</code></a>: ${about}</li>`).join('\n')
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Millrace</title>
<style>${STYLE}</style>
<main>
<h1>Millrace</h1>
<p>${isMissing ? 'There is nothing at this address. ' : ''}This is the HTTP API of a job queue.</p>
<ul>
${links}
</ul>
<p>Create a job:</p>
<pre><code>curl -X POST ${basePath}/v1/jobs -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '{"job":"mail","data":{"to":"ada@example.com"}}'</code></pre>
</main>
</html>
`
  return { html, style: `sha256-${createHash('sha256').update(STYLE).digest('base64')}` }
}
