/** Starts a browser, and opens windows in it that look the same everywhere. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import type { Chromium } from './chromium.ts'

/**
 * Root may run it, without a graphics card and with the 64 MB of /dev/shm of a container. Never those that @sparticuz/chromium proposes:
 * `--disable-web-security` is among them.
 */
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--renderer-process-limit=1']

/** @param args more of the browser's own arguments */
export function launch({ executablePath, env }: Chromium, args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath, env: { ...process.env, ...env }, args: [...ARGS, ...args] })
}

/** Without a locale the language of a bare machine is `en-US@posix`, which `Intl` refuses. */
export function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  return browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
}
