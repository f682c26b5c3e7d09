/** Next calls this once, when the server starts: jobs run from then on, before any request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { queue } = await import('./queue')
  await queue()
}
