/** The groups that run now. They end with this process, however little time it leaves them: nobody else knows of them. */

const leaders = new Set<number>()

/** From now on the group is killed when this process exits. Answers what forgets it: call that when nothing of the group is left. */
export function endWithProcess(leader: number): () => void {
  // One listener for all of them, and none where nothing runs: programs count theirs.
  if (leaders.size === 0) process.on('exit', killAll)
  leaders.add(leader)
  return () => {
    if (leaders.delete(leader) && leaders.size === 0) process.off('exit', killAll)
  }
}

/** Whoever exits waits for nothing, and so for no grace either. */
function killAll(): void {
  for (const leader of leaders) {
    try {
      process.kill(-leader, 'SIGKILL')
    } catch {
      // It is over, or another user's: the others are still to be ended.
    }
  }
}
