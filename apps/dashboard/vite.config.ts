/** Vite's settings: how the page is built, and served to those who work on it. */
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { defineConfig } from 'vite'

/** `packages/http` writes the path that the API is mounted at in place of it. */
const BASE_PATH = '{basePath}'

/** Addresses in index.html begin with the marker when built; the development server mounts everything at the root. */
function basePath(): Plugin {
  return {
    name: 'base-path',
    enforce: 'post',
    transformIndexHtml: (html, { server }) => (server === undefined ? html : html.replaceAll(BASE_PATH, '')),
    generateBundle(_, files) {
      const page = files['index.html']
      if (page?.type === 'asset') page.source = `${page.source}`.replaceAll('"./', `"${BASE_PATH}/`)
    },
  }
}

/** Vite wraps imports in a helper that loads their styles and scripts ahead. All that comes later is one script, and has no styles. */
function plainImports(): Plugin {
  return {
    name: 'plain-imports',
    enforce: 'pre',
    load: (id) => (id.endsWith('vite/preload-helper.js') ? 'export const __vitePreload = (load) => load()' : undefined),
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('src/page', import.meta.url)),
  base: './',
  publicDir: false,
  // Children as arguments are shorter than as a property. The names are those of no variable.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'jsx_', pragmaFrag: 'fragment_' },
    jsxInject: "import { h as jsx_, Fragment as fragment_ } from 'preact'",
  },
  plugins: [basePath(), plainImports()],
  build: {
    target: 'esnext',
    cssTarget: 'esnext',
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // The policy of the page allows no data: addresses.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    emptyOutDir: true,
    // Small files compress badly: one for the first load, and one for all screens that come later.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', priority: 2, test: /node_modules|src.page.(?!job.|screens.(?!overview|login)[a-z]+.|main)/ },
            { name: 'screens', test: /src.page.(?:job|screens.(?!overview|login)[a-z]+)./ },
          ],
        },
      },
    },
  },
})
