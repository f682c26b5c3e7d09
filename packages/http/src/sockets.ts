/** The sockets of the program that serves the API, as a client finds them: option `sockets` of `createHttp`. */

/** A socket that workers and producers attach to. It names no host: a client takes the one that it has asked. */
export type SocketPlace =
  /** `path` of the socket, and `file`: the device and the inode number of it, which tell it from a file of another machine. */
  | { readonly kind: 'unix'; readonly path: string; readonly file: string }
  /** The name of a Windows pipe. */
  | { readonly kind: 'pipe'; readonly path: string }
  /** `local` is true if only this machine can reach it. */
  | { readonly kind: 'tcp' | 'tls'; readonly port: number; readonly local: boolean }
