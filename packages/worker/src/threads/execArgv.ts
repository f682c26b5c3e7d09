/** The Node options of threads that run a file. */

/**
 * Threads inherit the options of their process, but `--input-type` only fits code that is given as a string: a thread with a file
 * refuses it and dies. A process that was started with it (`node --input-type=module -e …`) starts its threads without options.
 */
export function threadOptions(): { readonly execArgv?: string[] } {
  return process.execArgv.some((option) => option.startsWith('--input-type')) ? { execArgv: [] } : {}
}
