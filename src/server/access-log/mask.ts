/** What the access log leaves out of its lines (`log.access.mask`), before they are written anywhere. */
import { isIPv4 } from 'node:net';
import type { Settings } from '../../config/schema.ts';
import type { AccessEntry } from '../../plane/access-log.ts';

export type MaskWords = Settings['log']['access']['mask'];

const HIDDEN = '***';

/** The entry without what `words` name; the entry itself where they name nothing. */
export function masked(entry: AccessEntry, words: MaskWords): AccessEntry {
  if (words.length === 0) return entry;
  const isQuery = words.includes('query');
  const referer = words.includes('referer') ? '' : entry.referer;
  return {
    ...entry,
    target: isQuery ? withoutQuery(entry.target) : entry.target,
    referer: isQuery ? withoutQuery(referer) : referer,
    remoteIp: words.includes('address') ? networkOf(entry.remoteIp) : entry.remoteIp,
    userAgent: words.includes('user_agent') ? '' : entry.userAgent,
  };
}

/** That there was a query is kept. */
function withoutQuery(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? url : `${url.slice(0, at + 1)}${HIDDEN}`;
}

/** The network of an address, which many share: /24 of IPv4, /48 of IPv6. */
export function networkOf(ip: string): string {
  if (isIPv4(ip)) return `${ip.slice(0, ip.lastIndexOf('.'))}.0`;
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  const filled = tail === undefined ? groups : [...groups, '0', '0', '0'];
  const kept = filled.slice(0, 3).map((group) => group.replace(/^0+(?=.)/, ''));
  while (kept.length > 0 && kept.at(-1) === '0') kept.pop();
  return `${kept.join(':')}::`;
}
