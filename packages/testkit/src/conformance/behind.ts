/** The parts of the contract that depend on the store behind a Port. */
export interface Behind {
  /** False if the store is in no file, so that backups are refused. */
  readonly inFile: boolean
}
