/**
 * The table of screens. A screen is a folder with its logic, which is tested without a browser, and its view, which is loaded when it is
 * first shown. `packages/http` answers the page at the same paths.
 */
import type { ComponentType } from 'preact'
import type { IconName } from './parts/icons.ts'
import type { ScreenProps } from './screens/props.ts'
import { TEXT } from './text.ts'

interface Navigation {
  readonly icon: IconName
  /** Pressed after `g`. */
  readonly key: string
  readonly group: 'main' | 'system'
  /** Also at the bottom of a phone, where five have room. */
  readonly phone?: true
}

export interface Screen {
  readonly path: string
  readonly title: string
  /** Its place in the sidebar; screens without one are reached from others. */
  readonly navigation?: Navigation
  /** Set if it needs no session, and has no frame. */
  readonly bare?: true
  /** Set if it shows percentiles of job names: `/v1/stats` then answers them to all that look at it. */
  readonly percentiles?: true
  readonly load: () => Promise<ComponentType<ScreenProps>>
}

export const SCREENS: readonly Screen[] = [
  {
    path: '/',
    title: TEXT.screens.overview,
    navigation: { icon: 'overview', key: 'o', group: 'main', phone: true },
    percentiles: true,
    load: async () => (await import('./screens/overview/Overview.tsx')).Overview,
  },
  {
    path: '/jobs',
    title: TEXT.screens.jobs,
    navigation: { icon: 'jobs', key: 'j', group: 'main', phone: true },
    load: async () => (await import('./screens/jobs/Jobs.tsx')).Jobs,
  },
  {
    path: '/jobs/{id}',
    title: TEXT.screens.job,
    load: async () => (await import('./screens/job/JobPage.tsx')).JobPage,
  },
  {
    path: '/errors',
    title: TEXT.screens.errors,
    navigation: { icon: 'errors', key: 'e', group: 'main', phone: true },
    load: async () => (await import('./screens/errors/Errors.tsx')).Errors,
  },
  {
    path: '/queues',
    title: TEXT.screens.queues,
    navigation: { icon: 'queues', key: 'q', group: 'main', phone: true },
    percentiles: true,
    load: async () => (await import('./screens/queues/Queues.tsx')).Queues,
  },
  {
    path: '/queues/{name}',
    title: TEXT.screens.queue,
    percentiles: true,
    load: async () => (await import('./screens/queues/Queue.tsx')).Queue,
  },
  {
    path: '/flows',
    title: TEXT.screens.flows,
    navigation: { icon: 'flows', key: 'f', group: 'main' },
    load: async () => (await import('./screens/flow/Flows.tsx')).Flows,
  },
  {
    path: '/flows/{id}',
    title: TEXT.screens.flow,
    load: async () => (await import('./screens/flow/Flow.tsx')).Flow,
  },
  {
    path: '/schedules',
    title: TEXT.screens.schedules,
    navigation: { icon: 'schedules', key: 's', group: 'main' },
    load: async () => (await import('./screens/schedules/Schedules.tsx')).Schedules,
  },
  {
    path: '/workers',
    title: TEXT.screens.workers,
    navigation: { icon: 'workers', key: 'w', group: 'main', phone: true },
    load: async () => (await import('./screens/workers/Workers.tsx')).Workers,
  },
  {
    path: '/login',
    title: TEXT.screens.login,
    bare: true,
    load: async () => (await import('./screens/login/Login.tsx')).Login,
  },
  {
    path: '/events',
    title: TEXT.screens.events,
    navigation: { icon: 'events', key: 'v', group: 'system' },
    load: async () => (await import('./screens/events/Events.tsx')).Events,
  },
  {
    path: '/webhooks',
    title: TEXT.screens.webhooks,
    navigation: { icon: 'external', key: 'h', group: 'system' },
    load: async () => (await import('./screens/webhooks/Webhooks.tsx')).Webhooks,
  },
  {
    path: '/settings',
    title: TEXT.screens.settings,
    navigation: { icon: 'settings', key: ',', group: 'system' },
    load: async () => (await import('./screens/settings/Settings.tsx')).Settings,
  },
]
