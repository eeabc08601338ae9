/** Flags about the way to the service, as commands.ts lists them. upstream-options.ts reads them. */
import { ROUTE_FLAG } from '../routes/route-flag.ts';

type Flag = readonly [flags: string, description: string];

const CONNECT_TIMEOUT: Flag = [
  '--upstream-connect-timeout <time>',
  'time in which your service must accept a connection (default: 10s)',
];

/** Of http and https tunnels. */
export const UPSTREAM_FLAGS: readonly Flag[] = [
  ['--host-header <name>', 'host that your service gets: preserve (default), rewrite (that of the target), or a name'],
  ['--path-prefix <path>', 'publish this path of your service, and what is below it'],
  ['--upstream-ca <file>', 'trust only these certificate authorities (PEM) for your service'],
  ['--upstream-sni <name>', 'host name for TLS to your service'],
  ['--upstream-cert <file>', 'client certificate for your service (PEM)'],
  ['--upstream-key <file>', 'private key of the client certificate (PEM)'],
  CONNECT_TIMEOUT,
  ['--upstream-protocol <version>', 'HTTP version that your service speaks: http1 (default), http2 or auto'],
  ['--upstream-keep-alive-timeout <time>', 'how long an idle connection to your service is kept (default: 55s)'],
];

/** Of tcp tunnels, whose bytes the agent does not read. */
export const TCP_UPSTREAM_FLAGS: readonly Flag[] = [CONNECT_TIMEOUT];

/** Those that tcp tunnels refuse, with the reason. */
export const HTTP_ONLY_FLAGS: readonly string[] = [
  ...UPSTREAM_FLAGS.filter((flag) => flag !== CONNECT_TIMEOUT).map(([flags]) => flags),
  ROUTE_FLAG[0],
];
