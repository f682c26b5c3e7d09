/** The objects that all of the page works with, made of the browser's own. */
import { signal } from '@preact/signals'
import { createApi } from './api/client.ts'
import { SYSTEM } from './clock.ts'
import { Live } from './live/live.ts'
import { createRouter } from './router/router.ts'
import { Sessions } from './session.ts'
import { createSettings } from './settings.ts'

const basePath = document.querySelector<HTMLMetaElement>('meta[name=base-path]')?.content ?? ''

export const clock = SYSTEM
export const api = createApi({ fetch: window.fetch.bind(window), clock, basePath })
export const live = new Live(api, clock)
export const sessions = new Sessions(api)
export const settings = createSettings(() => window.localStorage, live.pace.rateMs)
export const router = createRouter(window, basePath)
/** Which facts of job names `/v1/stats` answers: all that look at it share one question. */
export const statsNames = signal<'percentiles' | 'none'>('none')
/** The address of the API, for commands to paste. */
export const apiUrl = window.location.origin + basePath

/** The time by the clock of the server, by seconds. */
export const now = signal(clock.now())
let aheadMs = 0

/** Tells what the clock of the server shows, so that ages are right where that of the browser is not. */
export function setServerTime(at: number): void {
  aheadMs = at - clock.now()
  now.value = at
}

function tick(): void {
  if (!live.pace.hidden.peek()) now.value = clock.now() + aheadMs
  clock.after(1_000, tick)
}
tick()

function look(): void {
  live.pace.hidden.value = document.hidden
}
look()
document.addEventListener('visibilitychange', look)
