/** Watches pages for what no page of Millrace may do: errors, violations of its content security policy, requests that leave its origin. */
import { EventEmitter, once } from 'node:events'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'

/** The part of `Audits.issueAdded` that describes a violation. */
interface Issue {
  readonly details: {
    readonly contentSecurityPolicyIssueDetails?: {
      readonly violatedDirective: string
      readonly contentSecurityPolicyViolationType: string
      readonly blockedURL?: string
      readonly sourceCodeLocation?: { readonly url: string; readonly lineNumber: number }
    }
  }
}

export class Guard {
  readonly #problems: string[] = []
  readonly #expected: RegExp[] = []
  readonly #emitter = new EventEmitter<{ problem: [] }>()

  /** Watches each page of the context, from before its first request on. */
  async watch(context: BrowserContext, origin: string): Promise<void> {
    const { host } = new URL(origin)
    context.on('console', (message) => {
      if (/^(?:error|assert)$/.test(message.type())) this.#add(`console: ${message.text()} (${message.location().url})`)
    })
    context.on('weberror', (error) => this.#add(`error: ${error.error().message}`))
    context.on('request', (request) => this.#requested(request.url(), host))
    // A window may be gone before it can be watched.
    context.on('page', (page) => void this.#watchPage(page, host).catch(() => {}))
    for (const page of context.pages()) await this.#watchPage(page, host)
  }

  /** Makes a problem that fits a part of the test, which fails without it. The promise resolves when it has happened. */
  async expect(pattern: RegExp): Promise<void> {
    this.#expected.push(pattern)
    while (!this.#has(pattern)) await once(this.#emitter, 'problem')
  }

  /** Waits until each expected problem was reported, for as long as `signal` allows: some are behind the action that caused them. */
  async settle(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#expected.every((pattern) => this.#has(pattern))) {
      await once(this.#emitter, 'problem', { signal }).catch(() => {})
    }
  }

  /** Returns the problems that nobody expected, and the expected ones that did not happen. */
  problems(): string[] {
    const isExpected = (problem: string) => this.#expected.some((pattern) => pattern.test(problem))
    const absent = this.#expected.filter((pattern) => !this.#has(pattern))
    return [...this.#problems.filter((problem) => !isExpected(problem)), ...absent.map((pattern) => `expected, but absent: ${pattern}`)]
  }

  #has(pattern: RegExp): boolean {
    return this.#problems.some((problem) => pattern.test(problem))
  }

  async #watchPage(page: Page, host: string): Promise<void> {
    page.on('websocket', (socket) => this.#requested(socket.url(), host))
    page.on('crash', () => this.#add('the page crashed'))
    const session: CDPSession = await page.context().newCDPSession(page)
    session.on('Audits.issueAdded', ({ issue }: { readonly issue: Issue }) => this.#audited(issue))
    // It reports what was before, too. The console is silent about `eval` in a `try`.
    await session.send('Audits.enable')
  }

  #audited({ details }: Issue): void {
    const violation = details.contentSecurityPolicyIssueDetails
    if (violation === undefined) return
    const { violatedDirective, contentSecurityPolicyViolationType, blockedURL, sourceCodeLocation: at } = violation
    const where = at === undefined ? '' : ` (${at.url}:${at.lineNumber + 1})`
    this.#add(`content security policy: ${violatedDirective} refuses ${blockedURL || contentSecurityPolicyViolationType}${where}`)
  }

  #requested(url: string, home: string): void {
    const { protocol, host } = new URL(url)
    if (/^(?:https?|wss?|ftp):$/.test(protocol) && host !== home) this.#add(`foreign request: ${url}`)
  }

  #add(problem: string): void {
    this.#problems.push(problem)
    this.#emitter.emit('problem')
  }
}
