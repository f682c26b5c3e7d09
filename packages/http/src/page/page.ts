/** The OpenAPI document as one page of HTML, without scripts. */
import { createHash } from 'node:crypto'
import type { OpenApiDocument } from '../document.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly description?: string
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

interface Described {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly 'x-scope'?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content; readonly required?: boolean }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** The background is given because tools that measure contrast take one that is not for white, in dark colours too. */
const STYLE = `
:root { color-scheme: light dark; background: Canvas; color: CanvasText; --line: #8885; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; }
.method { display: inline-block; min-width: 4rem; font-weight: 700; }
.scope { float: right; opacity: .7; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
td, th { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--soft); }
@media (width < 40rem) { tr { display: block; padding: .3rem 0; border-bottom: 1px solid var(--soft); } td { display: inline; border: 0; } }
`

/** Returns the page, and the hash by which a content security policy allows its style. */
export function pageOf(document: OpenApiDocument): { readonly html: string; readonly style: string } {
  const { info, paths = {}, components, servers = [] } = document
  const base = servers[0]?.url === '/' ? '' : (servers[0]?.url ?? '')
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Described>).map(([method, described]) => ({ path: base + path, method, described })),
  )
  const tags = [...new Set(all.flatMap(({ described }) => described.tags))]
  const schemas = Object.entries((components?.schemas ?? {}) as Record<string, Schema>)
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(info.title)}</title><style>${STYLE}</style></head>
<body>
<main>
<h1>${escaped(info.title)} ${escaped(info.version)}</h1>
${paragraphs(info.description)}
<p>For programs: <a href="${escaped(base)}/openapi.json">openapi.json</a></p>
${tags
  .map(
    (tag) =>
      `<h2>${escaped(tag)}</h2>\n${all
        .filter(({ described }) => described.tags.includes(tag))
        .map(operationOf)
        .join('\n')}`,
  )
  .join('\n')}
<h2>Schemas</h2>
${schemas.map(([name, schema]) => `<details id="${escaped(name)}"><summary><code>${escaped(name)}</code></summary>${shapeOf(schema)}</details>`).join('\n')}
</main>
</body>
</html>
`
  return { html, style: `sha256-${createHash('sha256').update(STYLE).digest('base64')}` }
}

function operationOf({ path, method, described }: { path: string; method: string; described: Described }): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = described
  const scope = described['x-scope']
  const rows = parameters.map((parameter) => row(parameter.name, parameter.in, typeOf(parameter.schema), parameter.description))
  const contents = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => row('body', type, typeOf(schema), undefined))
  const statuses = Object.keys(responses)
  const refusals = statuses.filter((status) => typeIn(responses[status]).includes('problem'))
  const answers = statuses
    .filter((status) => !refusals.includes(status))
    .map((status) => {
      const { description, content = {} } = responses[status] as Described['responses'][string]
      const [type = '', { schema } = {}] = Object.entries(content)[0] ?? []
      return row(status, type, type === '' ? '' : typeOf(schema), description)
    })
  return `<details id="${escaped(operationId)}"><summary><span class="method">${method.toUpperCase()}</span> <code>${escaped(path)}</code>
<span class="scope">${scope === undefined ? 'open' : escaped(scope)}</span><br>${escaped(summary)}</summary>
${paragraphs(description)}<table>${[...rows, ...contents].join('')}</table><table>${answers.join('')}</table><p>Or a <a href="#Problem">Problem</a>: ${refusals.join(', ')}.</p></details>`
}

function typeIn(response: Described['responses'][string] | undefined): string {
  return Object.keys(response?.content ?? {}).join(' ')
}

function row(name: string, where: string, type: string, description: string | undefined): string {
  return `<tr><td><code>${escaped(name)}</code></td><td>${escaped(where)}</td><td>${type}</td><td>${marked(description ?? '')}</td></tr>`
}

function shapeOf(schema: Schema): string {
  const { properties, required = [], description } = schema
  if (properties === undefined) return `${paragraphs(description)}<p>${typeOf(schema)}</p>`
  const rows = Object.entries(properties).map(([name, property]) =>
    row(name, required.includes(name) ? 'required' : '', typeOf(property), property.description),
  )
  return `${paragraphs(description)}<table>${rows.join('')}</table>`
}

/** Returns a type in a few words, as HTML; if it has a name, a link to it. */
function typeOf(schema: Schema | undefined): string {
  if (schema === undefined || Object.keys(schema).length === 0) return 'any'
  const { $ref, enum: values, anyOf, oneOf, allOf, items, properties, additionalProperties } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return `<a href="#${escaped(name)}">${escaped(name)}</a>`
  }
  const parts = anyOf ?? oneOf ?? allOf
  if (parts !== undefined) return parts.map(typeOf).join(allOf === undefined ? ' or ' : ' and ')
  if (values !== undefined) return values.map((value) => `<code>${escaped(JSON.stringify(value))}</code>`).join(' or ')
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`
  if (items !== undefined) return `array of ${typeOf(items)}`
  if (properties !== undefined) {
    const inner = Object.entries(properties).map(([name, property]) => `${escaped(name)}: ${typeOf(property)}`)
    return `{ ${inner.join(', ')} }`
  }
  if (typeof additionalProperties === 'object') return `object of ${typeOf(additionalProperties)}`
  const { type = 'any', format, minimum, maximum, pattern } = schema
  const range = minimum === undefined && maximum === undefined ? '' : ` ${minimum ?? ''}..${maximum ?? ''}`
  const facts = [format, pattern].filter((fact) => fact !== undefined).map((fact) => ` <code>${escaped(fact)}</code>`)
  return `${escaped([type].flat().join(' or '))}${range}${facts.join('')}`
}

function paragraphs(text: string | undefined): string {
  return (text ?? '')
    .split('\n\n')
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${marked(paragraph)}</p>`)
    .join('\n')
}

/** Returns the text as HTML, with parts in backticks as code. */
function marked(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
