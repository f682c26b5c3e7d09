/** A handler module whose teardown never ends. */
export function handler(): string {
  return 'done'
}

export function teardown(): Promise<never> {
  return new Promise(() => {})
}
