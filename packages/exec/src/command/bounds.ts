/** What one start of a process can carry, on every system that this package runs on. */

/** Of one argument or variable: the kernel takes 128 KiB, and counts the byte that ends it. */
export const ARGUMENT_BYTES = 128 * 1024 - 1

/** Of all arguments and variables together. */
export const START_BYTES = 512 * 1024
