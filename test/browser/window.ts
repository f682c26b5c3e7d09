/** Windows of the browser: one that tests use in turn, and new ones for tests that need more. */
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { cost } from '../cost/cost.ts'
import type { Guard } from './guard.ts'
import { openContext } from './launch.ts'
import { Watch } from './watch.ts'

export interface VisitOptions extends BrowserContextOptions {
  /** True for a context that no test has used, and none will use: for clocks and scripts that stay with a page. */
  readonly own?: boolean
}

const VIEWPORT = { width: 1_280, height: 720 } as const
const BLANK = 'about:blank'
const TIMEOUT_MS = 30_000
/** The options that a window can take on again and again. */
const CHANGEABLE: ReadonlySet<string> = new Set(['viewport', 'colorScheme', 'storageState', 'own'])

/** The page that the tests of a process use one after the other: a renderer that starts costs more than most pages. */
export class SharedWindow {
  readonly #browser: Browser
  #kept: Kept | undefined
  #taken = false

  constructor(browser: Browser) {
    this.#browser = browser
  }

  /** Opens an address. The window is cleared in between: no cookie or storage is there from another test. */
  async open(url: string, guard: Guard, options: VisitOptions = {}): Promise<Opened> {
    cost.pages++
    if (this.#taken || options.own || Object.keys(options).some((name) => !CHANGEABLE.has(name))) return this.#openOwn(url, guard, options)
    this.#taken = true
    this.#kept ??= await Kept.open(this.#browser)
    const kept = this.#kept
    await kept.begin(url, guard, options)
    const close = async () => {
      this.#taken = false
      if (await kept.clear(url)) return
      this.#kept = undefined
      await kept.context.close()
    }
    return { page: kept.page, close }
  }

  async #openOwn(url: string, guard: Guard, { own: _, ...options }: VisitOptions): Promise<Opened> {
    const context = await openContext(this.#browser, options)
    const page = await context.newPage()
    const watch = await Watch.start(context)
    watch.report(guard, url)
    await page.goto(url)
    return { page, close: () => context.close() }
  }
}

export interface Opened {
  readonly page: Page
  /** Ends the page, so that it notices nothing more of its server. */
  close(): Promise<void>
}

class Kept {
  readonly context: BrowserContext
  readonly page: Page
  readonly #watch: Watch
  readonly #session: CDPSession

  private constructor(context: BrowserContext, page: Page, watch: Watch, session: CDPSession) {
    this.context = context
    this.page = page
    this.#watch = watch
    this.#session = session
  }

  static async open(browser: Browser): Promise<Kept> {
    const context = await openContext(browser, { viewport: VIEWPORT })
    const page = await context.newPage()
    return new Kept(context, page, await Watch.start(context), await context.newCDPSession(page))
  }

  async begin(url: string, guard: Guard, { viewport, colorScheme, storageState }: VisitOptions): Promise<void> {
    const { page, context } = this
    if (typeof storageState === 'object') await context.addCookies(storageState.cookies)
    const { width, height } = viewport ?? VIEWPORT
    const now = page.viewportSize()
    if (now?.width !== width || now.height !== height) await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: colorScheme ?? 'light' })
    this.#watch.report(guard, url)
    await page.goto(url)
  }

  /** Returns false if the window cannot be used again. */
  async clear(url: string): Promise<boolean> {
    const { page, context } = this
    try {
      for (const other of context.pages()) if (other !== page) await other.close()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.evaluate('sessionStorage.clear()').catch(() => {})
      if (page.url() !== BLANK) await page.goto(BLANK)
      this.#watch.stop()
      const { origin } = new URL(url)
      await this.#session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
      await this.#session.send('Page.resetNavigationHistory')
      await context.clearCookies()
      await context.clearPermissions()
      page.setDefaultTimeout(TIMEOUT_MS)
      return true
    } catch {
      return false
    }
  }
}
