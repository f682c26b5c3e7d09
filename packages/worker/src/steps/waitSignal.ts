/** Ends the handler of a run whose job sleeps until a wait is over: the error that a middleware gets from `next`. */
export class WaitSignal extends Error {
  override readonly name = 'WaitSignal'
  constructor() {
    super('the job sleeps until the next of its waits is over')
  }
}
