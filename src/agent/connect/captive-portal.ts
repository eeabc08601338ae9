/**
 * Networks that want a login first, as those of hotels and trains: they answer in place of the server, with a redirect to another host, or with a
 * certificate of another name. Used by discovery.ts.
 */
import { get } from 'node:http';
import { codeOf } from '../../base/errors.ts';

/** A portal is near. */
const TIMEOUT_MS = 3_000;
const NETWORK_LOGIN_REQUIRED = 511;

/** The message is for people. */
export class CaptivePortalError extends Error {
  override readonly name = 'CaptivePortalError';

  /** `host`: where its page is. */
  constructor(host: string, options?: ErrorOptions) {
    super(
      `this network requires a login (captive portal at ${host}). Open a browser, log in to the network, and wait`,
      options,
    );
  }
}

/** The place of `answered` is a portal: it is another host than the one that was asked, and has a page in place of the document. */
export function isPortal(asked: URL, answered: URL, { status, body }: { status: number; body: string }): boolean {
  if (status === NETWORK_LOGIN_REQUIRED) return true;
  return !areRelated(asked, answered) && (status !== 200 || isPage(body));
}

/** HTML, whatever its content type says. */
export function isPage(body: string): boolean {
  return /^\ufeff?\s*<(?:!doctype html|html|head|body)\b/i.test(body);
}

/** The server showed a certificate that is not its own. A wrong clock does not come into it. */
export function isForeignCertificate(cause: unknown): boolean {
  return /^(?:ERR_TLS_CERT_ALTNAME_INVALID|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_\w+)$/.test(codeOf(cause) ?? '');
}

/**
 * Who answers plain HTTP in place of `server`, by a redirect to a host of its own; undefined: none does. A Culvert server leads to itself, or to a
 * name above or below it.
 */
export function portalBefore(server: URL): Promise<string | undefined> {
  const url = new URL(`http://${server.hostname}/`);
  return new Promise((resolve) => {
    const asked = get(url, { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      response.destroy();
      const to = URL.parse(response.headers.location ?? '', url.href);
      const isElsewhere = (response.statusCode ?? 0) >= 300 && to !== null && !areRelated(url, to);
      resolve(isElsewhere ? to.host : undefined);
    });
    asked.on('error', () => resolve(undefined)); // no answer is none of a portal
  });
}

function areRelated({ hostname: one }: URL, { hostname: other }: URL): boolean {
  return one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`);
}
