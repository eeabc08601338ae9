/** Where a server listens: at an address that it binds, or on a socket that another process holds for it. */
import type { Server } from 'node:net';

export interface ListenAt {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** A socket that was bound by another process, in place of host and port. */
  readonly fd?: number;
}

/** Listens; `server` tells of it by its event. `backlog`: connections that the kernel holds until they are accepted. */
export function listenAt(server: Server, { host, port, fd }: ListenAt, backlog: number): void {
  if (fd !== undefined) server.listen({ fd }, backlog);
  // Without a host Node binds `::` for both families, and 0.0.0.0 where the machine has no IPv6.
  else server.listen(host === '::' ? { port, backlog } : { host, port, backlog });
}
