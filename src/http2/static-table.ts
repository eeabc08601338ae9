/** Static table of HPACK (RFC 7541 Appendix A): 61 lines `name: value CRLF` side by side in one buffer. */
import { lineKind, nameKind } from './field-kind.ts';

/** Number of its last entry: the dynamic table begins behind it. */
export const LAST_STATIC = 61;

const TEXT = `:authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|:status 204|:status 206|\
:status 304|:status 400|:status 404|:status 500|accept-charset|accept-encoding gzip, deflate|accept-language|accept-ranges|accept|\
access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|content-encoding|content-language|content-length|\
content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|\
if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|\
server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate`;

export interface StaticField {
  readonly name: string;
  readonly value: string;
}

/** In order; the first one has the number 1. */
export const STATIC_FIELDS: readonly StaticField[] = TEXT.split('|').map((text) => {
  const [name = '', ...value] = text.split(' ');
  return { name, value: value.join(' ') };
});

/** All lines. `STATIC_START[n]` is where entry n begins, `STATIC_START[n + 1]` where it ends. */
export const STATIC_LINES = Buffer.from(STATIC_FIELDS.map(({ name, value }) => `${name}: ${value}\r\n`).join(''));
export const STATIC_START = new Uint16Array(LAST_STATIC + 2);
export const STATIC_NAME_END = new Uint16Array(LAST_STATIC + 2);
/** What each is in a request: its line (low byte) and its name alone (high byte). */
export const STATIC_KINDS = new Uint16Array(LAST_STATIC + 2);

fill();

function fill(): void {
  let at = 0;
  for (const [i, { name, value }] of STATIC_FIELDS.entries()) {
    const nameEnd = at + name.length;
    const end = nameEnd + 2 + value.length;
    STATIC_START[i + 1] = at;
    STATIC_NAME_END[i + 1] = nameEnd;
    const kind = nameKind(STATIC_LINES, at, nameEnd);
    STATIC_KINDS[i + 1] = lineKind(kind, STATIC_LINES, nameEnd + 2, end) | (kind << 8);
    at = end + 2;
  }
  STATIC_START[LAST_STATIC + 1] = at;
}
