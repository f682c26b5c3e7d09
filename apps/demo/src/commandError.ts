/** Something that the user can put right: told in one line, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
