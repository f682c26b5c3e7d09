// A handler that is a module.
import { isMainThread, threadId } from 'node:worker_threads'

let greeting = 'none'

export function setup() {
  greeting = 'hello'
}

export async function handler({ data, checkpoint, progress }) {
  progress(0.5)
  await checkpoint({ at: data.name })
  return { said: `${greeting} ${data.name}`, isMainThread, inThread: threadId > 0 }
}
