/** The groups that run now. They end with this process, however little time it leaves them, because nothing else knows of them. */

const leaders = new Set<number>()

/** Kills the group when this process exits. Returns a function that undoes this: call it when nothing of the group is left. */
export function endWithProcess(leader: number): () => void {
  // One listener for all groups, and none if nothing runs: programs count their listeners.
  if (leaders.size === 0) process.on('exit', killAll)
  leaders.add(leader)
  return () => {
    if (leaders.delete(leader) && leaders.size === 0) process.off('exit', killAll)
  }
}

/** Kills all groups. An exiting process waits for nothing, so there is no grace. */
function killAll(): void {
  for (const leader of leaders) {
    try {
      process.kill(-leader, 'SIGKILL')
    } catch {
      // The group is over, or another user's. Continue with the others.
    }
  }
}
