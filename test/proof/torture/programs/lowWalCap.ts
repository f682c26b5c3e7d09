/** Loaded before a program and in each of its threads: a cap of the write-ahead log that is met within seconds. */
import { LIMITS } from '@millrace/core'

Object.assign(LIMITS, { walBytes: 128 * 2 ** 20 })
