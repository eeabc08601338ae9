/** The options of every command that talks to a server: how it gets there. Read by client/outbound.ts. */
export const NETWORK_OPTIONS = [
  ['--proxy <url>', 'proxy to the server, http:// or socks5h:// (HTTPS_PROXY, ALL_PROXY); "" for none'],
  ['--ca-file <file>', 'also trust the certificates in this PEM file'],
] as const;
