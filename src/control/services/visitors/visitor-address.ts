/** E-mail addresses and domains of visitors: which are taken for lists and told to services, and which is on a list. */
import type { VisitorLists } from '../tunnels/visitor-gates.ts';

/** What an HTML form takes for an e-mail address, in ASCII: no quotes, commas or control characters, which headers could be misread by. */
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, 'i');
const LOCAL_PART = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/i;
const MAX_DOMAIN = 253;
const MAX_ADDRESS = 254;

/** A domain as it stands behind the `@`. */
export function isDomain(text: string): boolean {
  return text.length <= MAX_DOMAIN && DOMAIN.test(text);
}

export function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  return text.length <= MAX_ADDRESS && LOCAL_PART.test(text.slice(0, Math.max(at, 0))) && isDomain(text.slice(at + 1));
}

/** Whether the lists name the address itself, or exactly its domain. Letter case does not count. */
export function isListed(address: string, { allowedDomains, allowedEmails }: VisitorLists): boolean {
  const lower = address.toLowerCase();
  return (
    isAddress(lower) &&
    (allowedEmails.includes(lower) || allowedDomains.includes(lower.slice(lower.lastIndexOf('@') + 1)))
  );
}
