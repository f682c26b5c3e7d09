/** The site of docs/: which files are its pages, how they look and where their links lead. */
import { readdirSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { UserConfig } from 'vite'
import { defineConfig } from 'vitepress'
import { HOME, pagesOf, readContents } from '../src/contents.ts'
import { addressOf, placeOf } from '../src/links.ts'
import { writeForPrograms } from '../src/llms.ts'
import { anchorsOf, firstSentenceOf, slugOf } from '../src/markdown.ts'
import { usePages } from '../src/pagePlugin.ts'
import { ROOT, readPage, repositoryAddress } from '../src/root.ts'
import { SEARCH } from '../src/search.ts'
import { sidebarOf } from '../src/sidebar.ts'

const groups = readContents()
const repository = repositoryAddress()
const paths = new Set([HOME, ...pagesOf(groups).map(({ path }) => path)])
const site = { paths, repository, anchorsOf: (path: string) => anchorsOf(readPage(path)) }
const pathOf = (file: string) => relative(ROOT, file).split(sep).join('/')

/** Everything else at the root of the repository. */
const excluded = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => !(entry.isDirectory() ? entry.name === 'docs' : paths.has(entry.name)))
  .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name))

/** Pages lie outside of this package, from which Vue can be imported. What renders them on the server lies within. */
function vueOfServer(id: string, _importer: string | undefined, { ssr }: { readonly ssr?: boolean | undefined }) {
  return ssr === true && /^vue(?:\/|$)/.test(id) ? { id, external: true } : null
}

/** The development server would look for these at the root of the repository. They need no bundling. */
function forgetPackagesOfTheme({ optimizeDeps }: UserConfig) {
  if (optimizeDeps?.include !== undefined) optimizeDeps.include = optimizeDeps.include.filter((name) => !name.startsWith('vitepress > '))
}

export default defineConfig({
  title: 'Millrace',
  description: firstSentenceOf(readPage(HOME)),
  lang: 'en',
  srcDir: ROOT,
  srcExclude: excluded,
  rewrites: (path) => `${placeOf(path)}.md`,
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(readPage('apps/dashboard/src/page/favicon.svg'))}` }]],
  transformPageData: ({ filePath, frontmatter }) => ({
    description: firstSentenceOf(readPage(filePath)),
    frontmatter: filePath.startsWith('docs/decisions/') ? { ...frontmatter, pageClass: 'decision' } : frontmatter,
  }),
  buildEnd: ({ outDir }) => writeForPrograms(outDir, groups, site),
  markdown: {
    config: (md) => usePages(md, site, pathOf),
    anchor: { slugify: slugOf },
    // The pages are written for a code host, which has none of these.
    attrs: false,
    emoji: false,
    container: false,
    snippet: false,
    include: false,
    toc: false,
    footnote: false,
    component: false,
  },
  vite: {
    plugins: [
      { name: 'millrace-vue', enforce: 'pre', resolveId: vueOfServer },
      { name: 'millrace-packages', enforce: 'post', config: forgetPackagesOfTheme },
    ],
    server: { watch: { ignored: ['**/dist/**'] } },
    // The index of the search is large.
    build: { chunkSizeWarningLimit: 1_500 },
  },
  themeConfig: {
    sidebar: sidebarOf(groups, repository),
    nav: groups.slice(0, 4).map(({ name, entries }) => ({ text: name, link: addressOf(entries[0]?.path ?? HOME) })),
    outline: { level: [2, 3], label: 'On this page' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
    search: { provider: 'local', options: { miniSearch: { searchOptions: SEARCH } } },
  },
})
