/**
 * What a tunnel's name answers on plain HTTP when the operator has it served by HTTPS alone (`edge.https_redirect`): GET and HEAD are sent
 * on, everything else is refused, for its body or credentials would have gone over the wire in the clear a second time. Asked by
 * dispatch.ts for names that exist, so that it leads to no host that is not served here.
 */
import type { Exchange } from './exchange.ts';
import type { Head } from '../../../http1/head.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';

/** Certificate authorities ask by plain HTTP, for services that get certificates of their own as well (RFC 8555 §8.3). */
const CHALLENGES = Buffer.from('/.well-known/acme-challenge/');
const HTTPS_PORT = 443;
/** Of a token (RFC 8555 §8.3): base64url. */
const TOKEN_CHARS = new Uint8Array(256);
for (const c of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')) TOKEN_CHARS[c] = 1;

export class HttpsRedirect {
  readonly #port: () => number;

  /** `port`: of the public https URLs; asked at each use, for a listener on port 0 learns its own late. */
  constructor(port: () => number) {
    this.#port = port;
  }

  /** What the request is answered with; null: it passes. */
  refusal(bytes: Buffer, head: Head, { isGet, isHead }: Exchange): EdgeRefusal | null {
    const { pathStart, targetEnd } = head;
    if ((isGet || isHead) && isChallenge(bytes, pathStart, targetEnd)) return null;
    const host = bytes.toString('latin1', head.hostStart, head.hostEnd).toLowerCase().replace(/:\d*$/, '');
    const port = this.#port();
    const origin = `https://${host}${port === HTTPS_PORT ? '' : `:${port}`}`;
    if (!isGet && !isHead) {
      const again = `Send the request to ${origin} instead. Its content was already sent unencrypted`;
      return { code: 'https_required', detail: `This site is served over HTTPS only. ${again}.` };
    }
    const target = `${head.noPath ? '/' : ''}${bytes.toString('latin1', pathStart, targetEnd)}`;
    return { code: 'https_redirect', fields: [`Location: ${origin}${target.replace(/[^!-~]/g, percent)}`] };
  }
}

/** One token and nothing behind it: a service would read `/.well-known/acme-challenge/../../admin` as another path. */
function isChallenge(bytes: Buffer, start: number, end: number): boolean {
  const from = start + CHALLENGES.length;
  if (end <= from || bytes.compare(CHALLENGES, 0, CHALLENGES.length, start, from) !== 0) return false;
  for (let i = from; i < end; i++) if (TOKEN_CHARS[bytes[i] as number] === 0) return false;
  return true;
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
