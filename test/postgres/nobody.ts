/** The user "nobody", as options of a child process: Postgres refuses to run as root. Undefined for any other user. */
const ID = 65_534

export const NOBODY = process.getuid?.() === 0 ? { uid: ID, gid: ID } : undefined
