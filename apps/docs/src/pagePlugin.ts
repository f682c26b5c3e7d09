/** Makes pages that are written for a code host fit for the site, as a plugin of markdown-it. */
import { type Site, targetOf } from './links.ts'

interface Token {
  readonly type: string
  tag: string
  content: string
  readonly children: readonly Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

interface State {
  readonly tokens: Token[]
  /** True for a piece of a page, such as a title. */
  readonly inlineMode: boolean
  readonly env: { readonly path: string; readonly realPath?: string }
  readonly Token: new (type: string, tag: string, nesting: 0) => Token
}

/** The part of markdown-it that is used here. */
interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } }
}

/** @param pathOf returns the path of a file from the root of the repository */
export function usePages(markdown: Markdown, site: Site, pathOf: (file: string) => string): void {
  markdown.core.ruler.push('millrace_pages', (state) => {
    const from = pathOf(state.env.realPath ?? state.env.path)
    for (const token of state.tokens) {
      if (token.type === 'html_block') token.content = withRelativeImages(withBothImages(token.content))
      for (const child of token.children ?? []) {
        // VitePress makes a link of each heading to itself.
        const isWritten = child.type === 'link_open' && child.attrGet('class') !== 'header-anchor'
        if (isWritten) child.attrSet('href', targetOf(child.attrGet('href') ?? '', from, site))
      }
    }
    emptyHeadsToCells(state.tokens)
    if (state.inlineMode) return
    // The text is no template of Vue: it may have braces.
    const block = (content: string) => Object.assign(new state.Token('html_block', '', 0), { content })
    state.tokens.unshift(block('<div v-pre>\n'))
    state.tokens.push(block('</div>\n'))
  })
}

/** A column needs no name on a code host. A screen reader would read a head without one. */
export function emptyHeadsToCells(tokens: readonly Pick<Token, 'type' | 'tag' | 'content'>[]): void {
  for (const [index, token] of tokens.entries()) {
    const [text, end] = tokens.slice(index + 1, index + 3)
    if (token.type !== 'th_open' || text?.content !== '' || end === undefined) continue
    token.tag = 'td'
    end.tag = 'td'
  }
}

const PICTURE = /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img (.*?)src="([^"]+)">\s*<\/picture>/g

/** A picture follows the colours of the system. On the site a reader can choose others, which `.dark` says. */
export function withBothImages(html: string): string {
  return html.replace(PICTURE, '<img class="in-light" loading="lazy" $2src="$3"><img class="in-dark" loading="lazy" $2src="$1">')
}

/** The bundler takes `pictures/a.webp` for a package, and `./pictures/a.webp` for a file. */
export function withRelativeImages(html: string): string {
  return html.replace(/\b(src|srcset)="(?![a-z]+:|[./])/g, '$1="./')
}
