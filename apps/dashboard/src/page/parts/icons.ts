/** The names of the icons in the sprite of index.html. */
export const ICONS = [
  ...(['overview', 'jobs', 'errors', 'queues', 'flows', 'schedules', 'workers', 'events', 'settings'] as const),
  ...(['search', 'pause', 'play', 'more', 'menu', 'copy', 'retry', 'x', 'chevron', 'right', 'external', 'eye', 'check', 'plus'] as const),
  ...(['s-waiting', 's-scheduled', 's-retrying', 's-active', 's-blocked', 's-completed', 's-failed', 's-cancelled'] as const),
] as const

export type IconName = (typeof ICONS)[number]
