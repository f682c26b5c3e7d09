/** The part that a test has in the runs of handlers with durable calls. */
export interface ReplayHooks {
  /** True to end a run after each result that it records, so that its handler runs again from its beginning. */
  readonly always: boolean
  /** The ids of jobs whose handlers continued after their run had ended with a wait. */
  readonly strayed: Set<string>
  /** Called when a run is about to continue, a macrotask later. */
  planned(): void
}
