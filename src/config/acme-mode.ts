/** What `edge.tls.mode = "acme"` needs of the other settings. Called by conflicts.ts. */
import type { Conflict } from './conflicts.ts';
import type { ServerFile } from './schema.ts';

/** The first thing that keeps certificates from coming, if any. */
export function findAcmeModeGap({ acme, edge }: ServerFile): Conflict | undefined {
  if (edge.tls.mode !== 'acme') return undefined;
  if (edge.https_listen === null) {
    return {
      path: ['edge', 'tls', 'mode'],
      text: '"acme" needs edge.https_listen: set it, e.g. to "0.0.0.0:443"',
    };
  }
  if (acme.challenge === 'http-01' && edge.http_listen === null) {
    return {
      path: ['edge', 'http_listen'],
      text: 'is asked by the authority with acme.challenge = "http-01": set it so that port 80 leads to it, or choose "tls-alpn-01"',
    };
  }
  // A private authority issues for whatever its owner likes.
  if (acme.ca_file === null && isThisMachine(edge.domain)) {
    return {
      path: ['edge', 'tls', 'mode'],
      text: `"acme" needs a public name, and no authority issues for ${edge.domain}: set edge.domain, or choose "self_signed"`,
    };
  }
  return undefined;
}

function isThisMachine(domain: string): boolean {
  return domain === 'localhost' || domain.endsWith('.localhost');
}
