/** The warning about a server that is asked without TLS. */

/** What to say when the key's way is not safe; undefined when it is, or leaves this machine not at all. */
export function plainHttpWarning(server: URL): string | undefined {
  const local = server.hostname === 'localhost' || server.hostname === '[::1]' || server.hostname.startsWith('127.');
  if (server.protocol === 'https:' || local) return undefined;
  return 'the connection to the server is plain http: an attacker on the network can steal the key. Use https';
}
