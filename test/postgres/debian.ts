/** The folder of Postgres 15 as Debian's package `postgresql-15` installs it. */
export const DEBIAN = '/usr/lib/postgresql/15'
