/** Size limits for the start of a process, on every system that this package runs on. */

/** The maximum size of one argument or variable. The kernel allows 128 KiB, including the byte that ends it. */
export const ARGUMENT_BYTES = 128 * 1024 - 1

/** The maximum size of all arguments and variables together. */
export const START_BYTES = 512 * 1024
