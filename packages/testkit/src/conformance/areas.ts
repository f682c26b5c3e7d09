/** The parts of the contract of a Port, by name. */
export const PORT_AREAS = ['jobs', 'runs', 'steps', 'sessions', 'queues', 'flows', 'schedules', 'reading', 'upkeep'] as const

export type PortArea = (typeof PORT_AREAS)[number]
