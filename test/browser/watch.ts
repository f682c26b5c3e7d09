/** Watches each page of a context, from before its first request on, and reports to the guard of the test that uses it. */
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import type { Guard } from './guard.ts'

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

export class Watch {
  #guard: Guard | undefined
  /** The host that pages may send requests to. */
  #home = ''

  private constructor() {}

  static async start(context: BrowserContext): Promise<Watch> {
    const watch = new Watch()
    context.on('console', (message) => {
      if (/^(?:error|assert)$/.test(message.type())) watch.#add(`console: ${message.text()} (${message.location().url})`)
    })
    context.on('weberror', (error) => watch.#add(`error: ${error.error().message}`))
    context.on('request', (request) => watch.#requested(request.url()))
    // A window may be gone before it can be watched.
    context.on('page', (page) => void watch.#watchPage(page).catch(() => {}))
    for (const page of context.pages()) await watch.#watchPage(page)
    return watch
  }

  /** Reports to the guard from now on. Requests may go to the host of `origin`, and to no other. */
  report(guard: Guard, origin: string): void {
    this.#guard = guard
    this.#home = new URL(origin).host
  }

  /** Reports to nobody: the test is over. */
  stop(): void {
    this.#guard = undefined
  }

  async #watchPage(page: Page): Promise<void> {
    page.on('websocket', (socket) => this.#requested(socket.url()))
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

  #requested(url: string): void {
    const { protocol, host } = new URL(url)
    if (/^(?:https?|wss?|ftp):$/.test(protocol) && host !== this.#home) this.#add(`foreign request: ${url}`)
  }

  #add(problem: string): void {
    this.#guard?.add(problem)
  }
}
